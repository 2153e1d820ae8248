-- The eighth format: rows have a checksum, so that damage is noticed (`store/tables.py` says of what). It is filled in by
-- the program that takes this step. What can be made out of other rows has none: words and their lists; records have
-- hashes. New is also, in specs, as which account of its host a job runs. From this format on a step may say nothing that
-- only one of the databases understands.
ALTER TABLE meta ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE snapshots ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE specs ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE submit_keys ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plans ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cycles ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cycle_documents ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "usage" ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE past_labels ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accesses ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
