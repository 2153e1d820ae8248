-- The sixth format: rows of usage say of what unit they count: empty = slots, else a JSON object of amounts of resources,
-- as `{"cpu":"2","gpu":"1"}`, and `?` = a unit of unknown size. Rows that are there already get the unit of their job where
-- it is kept, or were of slots where the plan then in force had no resources; else they stay unknown until it is known.
ALTER TABLE "usage" ADD COLUMN unit TEXT NOT NULL DEFAULT '?';

CREATE TEMP TABLE units AS
    SELECT job, coalesce(json_extract(summary, '$.unit'), '') AS unit FROM jobs WHERE json_valid(summary);
CREATE UNIQUE INDEX temp.units_job ON units (job);
CREATE TEMP TABLE slot_plans AS
    SELECT version, at, instr("text", 'resources') = 0 AS is_of_slots FROM plans;

UPDATE "usage" SET unit = '' WHERE kind = 'lent';
UPDATE "usage" SET unit = (SELECT unit FROM units WHERE units.job = "usage".job)
    WHERE unit = '?' AND job IN (SELECT job FROM units);
UPDATE "usage" SET unit = ''
    WHERE unit = '?' AND (SELECT is_of_slots FROM slot_plans WHERE at <= "usage"."begin" ORDER BY version DESC LIMIT 1);
DROP TABLE temp.units;
DROP TABLE temp.slot_plans;

CREATE INDEX usage_unknown ON "usage" (job) WHERE unit = '?';
