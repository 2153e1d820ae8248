-- The seventh format: labels of finished jobs stay as long as usage may name the job, beyond the job itself. New are also
-- kinds of usage: `up` and `down`, what there was of the cluster, and what is lent of resources in base units.
CREATE TABLE past_labels (job TEXT NOT NULL PRIMARY KEY, ended INTEGER NOT NULL, labels TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX past_labels_ended ON past_labels (ended);

-- The seventh format: who may do what, tokens of people, and the records of what was done. Nothing that is there changes.
CREATE TABLE accesses (
    version INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, author TEXT NOT NULL, comment TEXT NOT NULL,
    "text" TEXT NOT NULL
);

-- digest: hash of the token; expires, revoked, used: 0 = never
CREATE TABLE tokens (
    number INTEGER NOT NULL PRIMARY KEY, user TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL,
    created INTEGER NOT NULL, expires INTEGER NOT NULL, creator TEXT NOT NULL, revoked INTEGER NOT NULL,
    used INTEGER NOT NULL
);

-- hash: of this row and so, by "before", of all before it
CREATE TABLE records (
    seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL, via TEXT NOT NULL, origin TEXT NOT NULL,
    action TEXT NOT NULL, target TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL, "before" TEXT NOT NULL,
    hash TEXT NOT NULL
);
