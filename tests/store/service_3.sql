-- The store of a service of format 3, as the Fairhold before format 4 wrote it, with a snapshot and entries after it
-- (tests/live/test_formats.py says what of). Never changed: every later Fairhold takes it up.
PRAGMA auto_vacuum=INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE cycle_documents (
    cycle INTEGER NOT NULL PRIMARY KEY REFERENCES cycles (number), at INTEGER NOT NULL, body BLOB NOT NULL
);
INSERT INTO "cycle_documents" VALUES(4,1767600003000015,X'7801258ECD0E823010845F85F42CBA6DC418AEBE82278D3195AED004BAD01F3910DE5DB6ECED9B99DD9D45B45EBB18445D3C5F8742786C7A6D87CC8B68C88534A0DF5C71BA89EC074ABEC177EB298DACB763DA8D296188AC48E68E76E8322567F30FB9395FCAF7CE9C32A84D6F1DF29A027529419650DDE15A03D4521D611B593DF6073A90E3E094286AB172DDD9C6CE783DB39EFBD327A0FFA1C9BCFE016AAC401F');
INSERT INTO "cycle_documents" VALUES(6,1767600005000017,X'7801258E4D0E82400C85AF42662DDA218A862D5770A53166642A4C0253981F5910EE2E1DBAEAF75EDBD745B44ED9E045953D5F874C386C7A6586C48B68C8FA38A0DB5C71AA45F23D45D7E0BB751447D6DB31EEC614D107562473473B740553B42665C8ADFF52BA57B2AE51E9DE58E4B5028A320799C3E50EB70AA092E7236C25AF8F3D4079B23C38450A4AACFCEE6C42A79D9A594FFFD3C7A3FBA14EBCFE016CE64026');
CREATE TABLE cycles (
    number INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, resource_group TEXT NOT NULL, cause TEXT NOT NULL,
    duration INTEGER NOT NULL, counts TEXT NOT NULL
);
INSERT INTO "cycles" VALUES(1,1767600000000012,'gpu','MachineSilent',1841,'{"granted": 2, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(2,1767600001000013,'gpu','JobSubmitted',1782,'{"granted": 3, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(3,1767600002000014,'gpu','JobSubmitted',1537,'{"granted": 0, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(4,1767600003000015,'gpu','JobSubmitted',99398,'{"granted": 0, "reclaimed": 1, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(5,1767600004000016,'gpu','JobSubmitted',2258,'{"granted": 0, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(6,1767600005000017,'gpu','JobSubmitted',2621,'{"granted": 0, "reclaimed": 1, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(7,1767600006000018,'gpu','TaskEnded',2369,'{"granted": 0, "reclaimed": 0, "withdrawn": 0}');
CREATE TABLE entries (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL);
INSERT INTO "entries" VALUES(1,1767600000000002,'["PlanApplied",1,{},[],{}]');
INSERT INTO "entries" VALUES(2,1767600000000004,'["MachineMissed","h1"]');
INSERT INTO "entries" VALUES(3,1767600000000005,'["MachineMissed","h2"]');
INSERT INTO "entries" VALUES(4,1767600000000006,'["MachineSeen","h1","boot","",[]]');
INSERT INTO "entries" VALUES(5,1767600000000007,'["MachineSeen","h2","boot","",[]]');
INSERT INTO "entries" VALUES(6,1767600000000009,'["JobAdded","1","/C","",2,0,"ann",1,0,0,0,null,[],[],0,[["cpu","7"],["memory","16"],["gpu","3"]],0]');
INSERT INTO "entries" VALUES(7,1767600000000012,'["CycleRan",1,"","MachineSilent"]');
INSERT INTO "entries" VALUES(8,1767600000000012,'["Started",1,"1",0,1,[["h1",1]],"/",["/A","/A/a1","/B"],[0,1,2]]');
INSERT INTO "entries" VALUES(9,1767600000000012,'["Started",2,"1",1,1,[["h2",1]],"/",["/A","/A/a1","/B"],[0,1,2]]');
INSERT INTO "entries" VALUES(10,1767600000000012,'["OwnershipAdjusted",["cpu","memory","gpu"],[["h1","/A","2","16","1"],["h2","/A","2","16","1"],["h1","/A/a1","2","16","1"],["h2","/A/a1","2","16","1"],["h1","/B","2","16","1"],["h2","/B","2","16","1"]]]');
INSERT INTO "entries" VALUES(11,1767600001000010,'["JobAdded","2","/B","",3,0,"ann",1,0,0,0,null,[],[],0,[["cpu","0.5"],["gpu","0.5"]],0]');
INSERT INTO "entries" VALUES(12,1767600001000013,'["CycleRan",2,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(13,1767600001000013,'["Started",3,"2",0,1,[["h1",1]],"own",[],[]]');
INSERT INTO "entries" VALUES(14,1767600001000013,'["Started",4,"2",1,1,[["h1",1]],"own",[],[]]');
INSERT INTO "entries" VALUES(15,1767600001000013,'["Started",5,"2",2,1,[["h2",1]],"own",[],[]]');
INSERT INTO "entries" VALUES(16,1767600002000011,'["JobAdded","3","/A/a2","",4,0,"ann",1,0,0,0,"",[],[],0,[["cpu","2"],["memory","8"],["gpu","1"]],2]');
INSERT INTO "entries" VALUES(17,1767600002000014,'["CycleRan",3,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(18,1767600003000012,'["JobAdded","4","/A/a1","",1,0,"ann",1,0,0,0,null,[],[["fast"],[],[],""],0,[["cpu","2"],["memory","8"],["gpu","1"]],0]');
INSERT INTO "entries" VALUES(19,1767600003000015,'["CycleRan",4,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(20,1767600003000015,'["Noticed",1,1767600012000015,"quota","/A/a1",4,"4","R-TAKE-1"]');
INSERT INTO "entries" VALUES(21,1767600003000015,'["Kept","",[["4","h1",1]]]');
INSERT INTO "entries" VALUES(22,1767600004000013,'["JobAdded","5","/B","",2,0,"ann",1,0,0,0,null,[],[],0,[["cpu","2"],["gpu","1"]],0]');
INSERT INTO "entries" VALUES(23,1767600004000016,'["CycleRan",5,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(24,1767600005000014,'["JobAdded","6","/A/a1","",1,0,"ann",1,0,0,0,null,[],[],0,[["cpu","2"],["memory","8"],["gpu","1"]],0]');
INSERT INTO "entries" VALUES(25,1767600005000017,'["CycleRan",6,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(26,1767600005000017,'["Noticed",2,1767600014000017,"quota","/A/a1",6,"6","R-TAKE-1"]');
INSERT INTO "entries" VALUES(27,1767600005000017,'["Kept","",[["4","h1",1],["6","h2",1]]]');
INSERT INTO "entries" VALUES(28,1767600006000015,'["Ended",3,"done",0,"finished",0,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(29,1767600006000018,'["CycleRan",7,"","TaskEnded"]');
CREATE TABLE jobs (
    number INTEGER NOT NULL PRIMARY KEY,
    job TEXT NOT NULL UNIQUE, consumer TEXT NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    submitted INTEGER NOT NULL, ended INTEGER NOT NULL, labels TEXT NOT NULL, summary TEXT NOT NULL
);
CREATE TABLE jobs_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES jobs (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('cluster','');
INSERT INTO "meta" VALUES('created','1767600000000001');
INSERT INTO "meta" VALUES('node','n1');
INSERT INTO "meta" VALUES('plan-file','{"fairhold": 1, "resources": {"cpu": {}, "memory": {"unit": "GiB"}, "gpu": {}}, "resource_groups": {"gpu": {"hosts": [{"name": "h1", "cpu": 8, "memory": 64, "gpu": 4, "labels": ["fast"]}, {"name": "h2", "cpu": 8, "memory": 64, "gpu": 4}]}}, "consumers": {"A": {"reclaim_grace": "5s", "consumers": {"a1": {}, "a2": {}}}, "B": {"reclaim_grace": "5s"}, "C": {"reclaim_grace": "9s"}}, "policies": [{"resource_groups": ["gpu"], "policy": "multidimensional", "consumers": {"/A": {"own": [{"resource_group": "gpu", "per_host": {"cpu": "50%", "memory": "50%", "gpu": "50%"}}]}, "/A/a1": {"own": [{"resource_group": "gpu", "per_host": {"cpu": 2, "memory": 16, "gpu": 1}}]}, "/B": {"own": [{"resource_group": "gpu", "per_host": {"cpu": 2, "memory": 16, "gpu": 1}}]}}}]}');
CREATE TABLE plans (
    version INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, author TEXT NOT NULL, comment TEXT NOT NULL,
    "text" TEXT NOT NULL, based_on INTEGER NOT NULL, until INTEGER NOT NULL
);
INSERT INTO "plans" VALUES(1,1767600000000002,'ann','read from plan','{"fairhold": 1, "resources": {"cpu": {}, "memory": {"unit": "GiB"}, "gpu": {}}, "resource_groups": {"gpu": {"hosts": [{"name": "h1", "cpu": 8, "memory": 64, "gpu": 4, "labels": ["fast"]}, {"name": "h2", "cpu": 8, "memory": 64, "gpu": 4}]}}, "consumers": {"A": {"reclaim_grace": "5s", "consumers": {"a1": {}, "a2": {}}}, "B": {"reclaim_grace": "5s"}, "C": {"reclaim_grace": "9s"}}, "policies": [{"resource_groups": ["gpu"], "policy": "multidimensional", "consumers": {"/A": {"own": [{"resource_group": "gpu", "per_host": {"cpu": "50%", "memory": "50%", "gpu": "50%"}}]}, "/A/a1": {"own": [{"resource_group": "gpu", "per_host": {"cpu": 2, "memory": 16, "gpu": 1}}]}, "/B": {"own": [{"resource_group": "gpu", "per_host": {"cpu": 2, "memory": 16, "gpu": 1}}]}}}]}',0,0);
CREATE TABLE snapshots (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL);
INSERT INTO "snapshots" VALUES(17,1767600002000014,X'7801AD54DB8E9B3010FD9779B61A1B7269796BFA1908AD58E20D54602330C9AE22FEBD676C2097A6EA3EEC5E128FE77EE6782E74D25D5F5943891264F4BB7BF96D5F29590BEAB41B3AD3539266828ADAF6953942BA8C82863E3F6A28D46EBBDBCAE52712CB45C4976A2DD29456BF48506E0C3E15FE5F6DD7D9B33E10744A8A60188928CB3201E3FD621CE164CF70633B8EA616E318C6B0C65F4AD0D3EAE72AE7D8FCCD6E3E0AF2B2811412963871B2F914C26D58E44897112D76BAA8F3AAE186631F1B0AF43DF44E77689B8A323747D48DA3E28F735E394042890CC05112019AE8B92A1EA143201F7EC284500F7C3D340A27FE35435D87E410D05DD10EE867C79D50A31BDB7D40545B2F1FBD2E26D42959EFBB2611C3F33341E5B7CD4D182FCD81261849ACFF8AC57823192CAFE545F7E57DBF09ABB83ACC16487E14B506B8F144B3DC39DDB48E922DAA0D67863E050D314A29D4954C3C7DA930BC944AE814C25DA8B5B6A68456C0A3D6E60016C31B0C80BCD0618F4AE8A04F55C199410550281B517EE49320C5F324E0D0172441A70874D7492032E8F5A413E63AD786A7C7F96F6BFB8CDBC6BBE1095E5BBA757B6C2964033CC6BA091E08A5ED9D9F02C6ECB196C275830EFCE22BDFD07405FB262FCACA7870434778DED69178CBEB5E0732838C0C820C77CC530EF25F3B046FF3A1F7EF6DE421B63C64C3D5F1063A57E660CF93B0AC14AF3AE9C25966C3854A5DE3BDF2FE7AEB3487E2E3D11ADE5D380103D0A6AC5A88F3535B1E19BF2E543BB5E579C575E3ED3177963E9E2AE65DC4DFCF9DC2BE7AD479BFFDBF9C1E15590620B0ADC3C0E65CD80762623A76DEFD82FEF1C80D9073B6088B18B41FC73F7FB899DF');
CREATE TABLE specs (job TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
INSERT INTO "specs" VALUES('1','{"consumer":"/C","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('2','{"consumer":"/B","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('3','{"consumer":"/A/a2","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('4','{"consumer":"/A/a1","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('5','{"consumer":"/B","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('6','{"consumer":"/A/a1","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
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
INSERT INTO "tasks" VALUES(1,'2',0,1,3,'/B','ann','h1',1,'done','finished',0,0,'so it was',1767600001000013,1767600006000015,0,0,'{}');
CREATE TABLE tasks_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES tasks (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "tasks_by_word" VALUES(1,1767600006000015,1);
INSERT INTO "tasks_by_word" VALUES(2,1767600006000015,1);
INSERT INTO "tasks_by_word" VALUES(3,1767600006000015,1);
INSERT INTO "tasks_by_word" VALUES(4,1767600006000015,1);
INSERT INTO "tasks_by_word" VALUES(5,1767600006000015,1);
INSERT INTO "tasks_by_word" VALUES(6,1767600006000015,1);
CREATE TABLE "usage" (
    "begin" INTEGER NOT NULL, "end" INTEGER NOT NULL, consumer TEXT NOT NULL, user TEXT NOT NULL, job TEXT NOT NULL,
    kind TEXT NOT NULL, amount INTEGER NOT NULL
);
CREATE TABLE words (number INTEGER NOT NULL PRIMARY KEY, word TEXT NOT NULL UNIQUE);
INSERT INTO "words" VALUES(1,'c:/B');
INSERT INTO "words" VALUES(2,'u:ann');
INSERT INTO "words" VALUES(3,'s:done');
INSERT INTO "words" VALUES(4,'j:2');
INSERT INTO "words" VALUES(5,'h:h1');
INSERT INTO "words" VALUES(6,'r:finished');
CREATE INDEX submit_keys_at ON submit_keys (at);
CREATE INDEX jobs_ended ON jobs (ended);
CREATE INDEX tasks_ended ON tasks (ended);
CREATE INDEX cycles_of_group ON cycles (resource_group, number);
CREATE INDEX usage_end ON "usage" ("end", "begin");
COMMIT;
PRAGMA application_id=1179143236;
PRAGMA user_version=3;
