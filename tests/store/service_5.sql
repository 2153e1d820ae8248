-- The store of a service of format 5, as the Fairhold before format 6 wrote it, with a snapshot and entries after it
-- (tests/live/test_formats.py says what of). Never changed: every later Fairhold takes it up.
PRAGMA auto_vacuum=INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE cycle_documents (
    cycle INTEGER NOT NULL PRIMARY KEY REFERENCES cycles (number), at INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE TABLE cycles (
    number INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, resource_group TEXT NOT NULL, cause TEXT NOT NULL,
    duration INTEGER NOT NULL, counts TEXT NOT NULL
);
INSERT INTO "cycles" VALUES(1,1767600000000010,'compute','MachineSilent',373,'{"granted": 1, "reclaimed": 0, "withdrawn": 0, "idle": 3}');
INSERT INTO "cycles" VALUES(2,1767600010000020,'compute','MachineSilent',368,'{"granted": 3, "reclaimed": 0, "withdrawn": 0, "idle": 1}');
INSERT INTO "cycles" VALUES(3,1767600010000020,'gpu','MachineSilent',716,'{"granted": 4, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(4,1767600030000021,'gpu','TaskEnded',561,'{"granted": 0, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(5,1767600040000025,'gpu','TaskEnded',534,'{"granted": 1, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(6,1767600045000026,'gpu','TaskEnded',474,'{"granted": 0, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(7,1767600052000027,'compute','JobSubmitted',269,'{"granted": 1, "reclaimed": 0, "withdrawn": 0, "idle": 0}');
CREATE TABLE entries (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL);
INSERT INTO "entries" VALUES(1,1767600000000002,'["PlanApplied",1,{},[],{}]');
INSERT INTO "entries" VALUES(2,1767600000000004,'["MachineMissed",""]');
INSERT INTO "entries" VALUES(3,1767600000000005,'["MachineSeen","","boot","",[]]');
INSERT INTO "entries" VALUES(4,1767600000000007,'["JobAdded","1","/A","compute",1,0,"ann",1,0,0,0,null,[],[],0,[],0,null]');
INSERT INTO "entries" VALUES(5,1767600000000010,'["CycleRan",1,"compute","MachineSilent"]');
INSERT INTO "entries" VALUES(6,1767600000000010,'["Started",1,"1",0,1,[["",1]],"",[],[],[]]');
INSERT INTO "entries" VALUES(7,1767600010000008,'["UsageSpan",1767600000000002,1767600010000008,"eJyLNjQ3MzczgAMjHZiAIUTAQic6WknfUUlHKTEvD0gaAnF+OZAVHW2hA1VjpmMYCwQ60WBUXRsLACqxFFg="]');
INSERT INTO "entries" VALUES(8,1767600010000008,'["PlanApplied",2,{},[],{}]');
INSERT INTO "entries" VALUES(9,1767600010000010,'["MachineMissed","h1"]');
INSERT INTO "entries" VALUES(10,1767600010000011,'["MachineSeen","h1","boot","",[]]');
INSERT INTO "entries" VALUES(11,1767600010000012,'["Ended",1,"done",0,"finished",0,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(12,1767600010000012,'["JobEnded","1","done"]');
INSERT INTO "entries" VALUES(13,1767600010000014,'["JobAdded","2","/A","",1,0,"ann",1,0,0,0,null,[],[],0,[["gpu","1"],["memory","8"]],0,null]');
INSERT INTO "entries" VALUES(14,1767600010000015,'["JobAdded","3","/B","",2,0,"bob",1,0,0,0,null,[],[],0,[["gpu","0.5"],["cpu","1.25"]],0,null]');
INSERT INTO "entries" VALUES(15,1767600010000016,'["JobAdded","4","/A","compute",3,0,"ann",1,0,0,0,null,[],[],0,[],0,null]');
INSERT INTO "entries" VALUES(16,1767600010000017,'["JobAdded","5","/A","",1,0,"ann",1,0,0,0,null,[],[],0,[["gpu","1"],["memory","8"]],0,null]');
INSERT INTO "entries" VALUES(17,1767600010000020,'["CycleRan",2,"compute","MachineSilent"]');
INSERT INTO "entries" VALUES(18,1767600010000020,'["Started",2,"4",0,1,[["",1]],"",[],[],[]]');
INSERT INTO "entries" VALUES(19,1767600010000020,'["Started",3,"4",1,1,[["",1]],"",[],[],[]]');
INSERT INTO "entries" VALUES(20,1767600010000020,'["Started",4,"4",2,1,[["",1]],"",[],[],[]]');
INSERT INTO "entries" VALUES(21,1767600010000020,'["CycleRan",3,"","MachineSilent"]');
INSERT INTO "entries" VALUES(22,1767600010000020,'["Started",5,"2",0,1,[["h1",1]],"own",[],[0],[]]');
INSERT INTO "entries" VALUES(23,1767600010000020,'["Started",6,"5",0,1,[["h1",1]],"own",[],[1],[]]');
INSERT INTO "entries" VALUES(24,1767600010000020,'["Started",7,"3",0,1,[["h1",1]],"/",["/A"],[],[]]');
INSERT INTO "entries" VALUES(25,1767600010000020,'["Started",8,"3",1,1,[["h1",1]],"/",["/A"],[],[]]');
INSERT INTO "entries" VALUES(26,1767600010000020,'["OwnershipAdjusted",["cpu","memory","gpu"],[["h1","/A","8","64","4"]],[],[]]');
INSERT INTO "entries" VALUES(27,1767600030000018,'["Ended",5,"done",0,"finished",0,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(28,1767600030000018,'["JobEnded","2","done"]');
INSERT INTO "entries" VALUES(29,1767600030000021,'["CycleRan",4,"","TaskEnded"]');
INSERT INTO "entries" VALUES(30,1767600040000019,'["Ended",7,"done",0,"finished",0,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(31,1767600040000020,'["Ended",8,"done",0,"finished",0,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(32,1767600040000020,'["JobEnded","3","done"]');
INSERT INTO "entries" VALUES(33,1767600040000021,'["UsageSpan",1767600010000008,1767600040000021,"eJx1kMEKwjAMht+l54BJWzfxpq9RenC6o6sMZQfZu5sl3ca0Fhrypz9fkgaqq7pCREI5B5gLXrQlCMHsTgbMpes4Et80cBYCggeKMcLG4FcDWXBCIQe2aGxS36ehvX27f7F2g7VqxIJxX+4/G8/SteHo/vYnnhbCInJihcEPcfqSa7o/Xs/WzM0ZHOVPUCKxoLy0zzVVE0eNUXGmyMhWr9myr1O9DrrRglbse6IdtY40xg8s3HaC"]');
INSERT INTO "entries" VALUES(34,1767600040000022,'["JobAdded","6","/B","",1,0,"bob",1,0,0,0,null,[],[],0,[["gpu","1"],["memory","8"]],0,null]');
INSERT INTO "entries" VALUES(35,1767600040000025,'["CycleRan",5,"","TaskEnded"]');
INSERT INTO "entries" VALUES(36,1767600040000025,'["Started",9,"6",0,1,[["h1",1]],"/",["/A"],[0],[]]');
INSERT INTO "entries" VALUES(37,1767600045000023,'["Ended",9,"done",0,"finished",0,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(38,1767600045000023,'["JobEnded","6","done"]');
INSERT INTO "entries" VALUES(39,1767600045000026,'["CycleRan",6,"","TaskEnded"]');
INSERT INTO "entries" VALUES(40,1767600052000024,'["JobAdded","7","/B","compute",1,0,"ann",1,0,0,0,null,[],[],0,[],0,null]');
INSERT INTO "entries" VALUES(41,1767600052000027,'["CycleRan",7,"compute","JobSubmitted"]');
INSERT INTO "entries" VALUES(42,1767600052000027,'["Started",10,"7",0,1,[["",1]],"",[],[],[]]');
CREATE TABLE jobs (
    number INTEGER NOT NULL PRIMARY KEY,
    job TEXT NOT NULL UNIQUE, consumer TEXT NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    submitted INTEGER NOT NULL, ended INTEGER NOT NULL, labels TEXT NOT NULL, summary TEXT NOT NULL
);
INSERT INTO "jobs" VALUES(3,'3','/B','bob','bob''s','done',1767600010000015,1767600040000020,'{}','{"tasks": 2, "waiting": 0, "delayed": 0, "running": 0, "done": 2, "failed": 0, "cancelled": 0, "reclaimed": 0, "resource_group": "", "priority": 0, "units": 1, "throttle": 0, "retries": 0, "after": [], "unit": {"gpu": "0.5", "cpu": "1.25"}, "min_count": 0, "exit_code": 0}');
INSERT INTO "jobs" VALUES(4,'6','/B','bob','bob''s','done',1767600040000022,1767600045000023,'{}','{"tasks": 1, "waiting": 0, "delayed": 0, "running": 0, "done": 1, "failed": 0, "cancelled": 0, "reclaimed": 0, "resource_group": "", "priority": 0, "units": 1, "throttle": 0, "retries": 0, "after": [], "unit": {"gpu": "1", "memory": "8"}, "min_count": 0, "exit_code": 0}');
CREATE TABLE jobs_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES jobs (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "jobs_by_word" VALUES(3,1767600040000020,3);
INSERT INTO "jobs_by_word" VALUES(3,1767600045000023,4);
INSERT INTO "jobs_by_word" VALUES(7,1767600040000020,3);
INSERT INTO "jobs_by_word" VALUES(7,1767600045000023,4);
INSERT INTO "jobs_by_word" VALUES(8,1767600040000020,3);
INSERT INTO "jobs_by_word" VALUES(8,1767600045000023,4);
CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('cluster','');
INSERT INTO "meta" VALUES('created','1767600000000001');
INSERT INTO "meta" VALUES('node','n1');
INSERT INTO "meta" VALUES('plan-file','{"fairhold": 1, "resource_groups": {"compute": {"slots": 4}}, "consumers": {"A": {}, "B": {}}, "policies": [{"resource_groups": ["compute"], "policy": "hybrid", "consumers": {"/A": {"owned": 2}, "/B": {"owned": 2}}}]}');
CREATE TABLE plans (
    version INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, author TEXT NOT NULL, comment TEXT NOT NULL,
    "text" TEXT NOT NULL, based_on INTEGER NOT NULL, until INTEGER NOT NULL
);
INSERT INTO "plans" VALUES(1,1767600000000002,'ann','read from plan','{"fairhold": 1, "resource_groups": {"compute": {"slots": 4}}, "consumers": {"A": {}, "B": {}}, "policies": [{"resource_groups": ["compute"], "policy": "hybrid", "consumers": {"/A": {"owned": 2}, "/B": {"owned": 2}}}]}',0,0);
INSERT INTO "plans" VALUES(2,1767600010000008,'ann','','{"fairhold": 1, "resources": {"cpu": {}, "memory": {"unit": "GiB"}, "gpu": {}}, "resource_groups": {"compute": {"slots": 4}, "gpu": {"hosts": [{"name": "h1", "cpu": 8, "memory": 64, "gpu": 4}]}}, "consumers": {"A": {}, "B": {}}, "policies": [{"resource_groups": ["compute"], "policy": "hybrid", "consumers": {"/A": {"owned": 2}, "/B": {"owned": 2}}}, {"resource_groups": ["gpu"], "policy": "multidimensional", "consumers": {"/A": {"own": [{"resource_group": "gpu", "hosts": 1}]}}}]}',1,0);
CREATE TABLE snapshots (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL);
INSERT INTO "snapshots" VALUES(38,1767600045000023,X'78018D54ED6EA330107C97FD6DA9360152F1EFFA1A0855045CE0043632265C15F1EE376B0855AFA97A4AB0ECDDF1EC87C7BED155BBA9B386B24890D17FFCEB6F7BA1EC2CC8693F3B3351961782AADE4E9D69B0BAAD82E6A96C341CEA9C9E5329658C4FCA4889C39004C349E4393DFD2241A53118637C76C12CCFA508101989A8280AF10576B1CED945D79FB1EA0B3679447987BDC079413982D230FBA08C8FF08C457CFC73AAEC30CE5E23E696F5D30BB15D0A8551854C43AE0F01EC8945042A4CEEC56123F317E24620CB76F38A8E3A5DF56537707F93101E20B4799EBC76E832556D691AD48F69CCC352761E274099DCCE89B2134E2279EC522B7C200AF47B31477127018A70200A33FE99B9EFB7BCB7BA09057F83E15425F7AA1967F454718368D08375EF583E13AA90A192F7AAD7282ED955557AAF87D153A698785B70ED39640759708BEFE2519B9A42146402B6DB8A28A70004EC27601C80D1CFC094FBF76DE856EDC169B4B6A76C532ED5FADA555C59AE8A952B35D6EF062C5A3BF950D6879688442CBC9BB588B957E81233CBCD147A359455DB99C019FC176B3D89B7B29FF476346819EF90BB8D8F80A99807FAFE0F30321BCB790A7282326A3D6A536BC3A9F27D5E3A53DB655F1C372FB8AEBAF2D6B18B5ADD438EFC1ABC39CD543C6DACE19700335C6C3C256D376289AB14E4710883D58294F79CC393F08CE4537E116288A640167878B6D6B13161385481F1B32E54FACFF9AB3376AF7F0145575278');
CREATE TABLE specs (job TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
INSERT INTO "specs" VALUES('3','{"consumer":"/B","argv":["true","{index}"],"directory":"/","notice":15,"name":"bob''s"}');
INSERT INTO "specs" VALUES('4','{"consumer":"/A","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('5','{"consumer":"/A","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('6','{"consumer":"/B","argv":["true","{index}"],"directory":"/","notice":15,"name":"bob''s"}');
INSERT INTO "specs" VALUES('7','{"consumer":"/B","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
CREATE TABLE submit_keys (
    user TEXT NOT NULL, "key" TEXT NOT NULL, job TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (user, "key")
) WITHOUT ROWID;
CREATE TABLE tasks (
    number INTEGER NOT NULL PRIMARY KEY,
    job TEXT NOT NULL, task INTEGER NOT NULL, try INTEGER NOT NULL, attempt INTEGER NOT NULL,
    consumer TEXT NOT NULL, user TEXT NOT NULL, host TEXT NOT NULL, units INTEGER NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL, code INTEGER NOT NULL, "signal" INTEGER NOT NULL, detail TEXT NOT NULL,
    started INTEGER NOT NULL, ended INTEGER NOT NULL, cpu INTEGER NOT NULL, peak INTEGER NOT NULL, labels TEXT NOT NULL,
    UNIQUE (job, task, try)
);
INSERT INTO "tasks" VALUES(3,'3',0,1,7,'/B','bob','h1',1,'done','finished',0,0,'so it was',1767600010000020,1767600040000019,0,0,'{}');
INSERT INTO "tasks" VALUES(4,'3',1,1,8,'/B','bob','h1',1,'done','finished',0,0,'so it was',1767600010000020,1767600040000020,0,0,'{}');
INSERT INTO "tasks" VALUES(5,'6',0,1,9,'/B','bob','h1',1,'done','finished',0,0,'so it was',1767600040000025,1767600045000023,0,0,'{}');
CREATE TABLE tasks_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES tasks (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "tasks_by_word" VALUES(3,1767600040000019,3);
INSERT INTO "tasks_by_word" VALUES(3,1767600040000020,4);
INSERT INTO "tasks_by_word" VALUES(3,1767600045000023,5);
INSERT INTO "tasks_by_word" VALUES(6,1767600040000019,3);
INSERT INTO "tasks_by_word" VALUES(6,1767600040000020,4);
INSERT INTO "tasks_by_word" VALUES(6,1767600045000023,5);
INSERT INTO "tasks_by_word" VALUES(7,1767600040000019,3);
INSERT INTO "tasks_by_word" VALUES(7,1767600040000020,4);
INSERT INTO "tasks_by_word" VALUES(7,1767600045000023,5);
INSERT INTO "tasks_by_word" VALUES(8,1767600040000019,3);
INSERT INTO "tasks_by_word" VALUES(8,1767600040000020,4);
INSERT INTO "tasks_by_word" VALUES(8,1767600045000023,5);
INSERT INTO "tasks_by_word" VALUES(10,1767600040000019,3);
INSERT INTO "tasks_by_word" VALUES(10,1767600040000020,4);
INSERT INTO "tasks_by_word" VALUES(10,1767600045000023,5);
INSERT INTO "tasks_by_word" VALUES(11,1767600040000019,3);
INSERT INTO "tasks_by_word" VALUES(11,1767600040000020,4);
INSERT INTO "tasks_by_word" VALUES(12,1767600045000023,5);
CREATE TABLE "usage" (
    "begin" INTEGER NOT NULL, "end" INTEGER NOT NULL, consumer TEXT NOT NULL, user TEXT NOT NULL, job TEXT NOT NULL,
    kind TEXT NOT NULL, amount INTEGER NOT NULL
);
INSERT INTO "usage" VALUES(1767600000000002,1767600010000008,'/A','ann','1','own',9999998);
INSERT INTO "usage" VALUES(1767600010000008,1767600040000021,'/A','ann','1','own',4);
INSERT INTO "usage" VALUES(1767600010000008,1767600040000021,'/A','ann','4','own',60000002);
INSERT INTO "usage" VALUES(1767600010000008,1767600040000021,'/A','ann','4','borrowed',30000001);
INSERT INTO "usage" VALUES(1767600010000008,1767600040000021,'/A','ann','2','own',19999998);
INSERT INTO "usage" VALUES(1767600010000008,1767600040000021,'/A','ann','5','own',30000001);
INSERT INTO "usage" VALUES(1767600010000008,1767600040000021,'/B','bob','3','borrowed',59999999);
INSERT INTO "usage" VALUES(1767600010000008,1767600040000021,'/B','','','lent',30000001);
CREATE TABLE words (number INTEGER NOT NULL PRIMARY KEY, word TEXT NOT NULL UNIQUE);
INSERT INTO "words" VALUES(3,'s:done');
INSERT INTO "words" VALUES(6,'r:finished');
INSERT INTO "words" VALUES(7,'c:/B');
INSERT INTO "words" VALUES(8,'u:bob');
INSERT INTO "words" VALUES(10,'h:h1');
INSERT INTO "words" VALUES(11,'j:3');
INSERT INTO "words" VALUES(12,'j:6');
CREATE INDEX submit_keys_at ON submit_keys (at);
CREATE INDEX jobs_ended ON jobs (ended);
CREATE INDEX tasks_ended ON tasks (ended);
CREATE INDEX cycles_of_group ON cycles (resource_group, number);
CREATE INDEX usage_end ON "usage" ("end", "begin");
COMMIT;
PRAGMA application_id=1179143236;
PRAGMA user_version=5;
