-- The seventh format: labels of finished jobs stay as long as usage may name the job, beyond the job itself. New are also
-- kinds of usage: `up` and `down`, what there was of the cluster, and what is lent of resources in base units.
CREATE TABLE past_labels (job TEXT NOT NULL PRIMARY KEY, ended INTEGER NOT NULL, labels TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX past_labels_ended ON past_labels (ended);
