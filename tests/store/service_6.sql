-- The store of a service of format 6, as the Fairhold before format 7 wrote it, with a snapshot and entries after it
-- (tests/live/test_formats.py says what of). Never changed: every later Fairhold takes it up.
PRAGMA auto_vacuum=INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE cycle_documents (
    cycle INTEGER NOT NULL PRIMARY KEY REFERENCES cycles (number), at INTEGER NOT NULL, body BLOB NOT NULL
);
INSERT INTO "cycle_documents" VALUES(5,1767600014000021,X'7801AD904D0E82301085AF42BA06692B1AC34ECFE04A624C852A4DA003FD9105E1EE32253131D1C485DDBD79D3F9E6CD48EE466867491E152329415BDF4A332B92EE53C1481C11232D7853CACBDD80EFD0724628BD58BD97D6612D435DC322EAF0D16B1506B3D9E9009A30954C71F4471047EC17D0392C5F3642B59FF21D7E0F17E2BCC2BD31F90CB941B85838412545D5282D312CA77C9B5096D0CD91EE724AF375B6A2F3E3ECB4B085058D8DBD0727C8840B0FCAD5951103D60B2CC0D54AF39055D0D313AFCF7D58');
CREATE TABLE cycles (
    number INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, resource_group TEXT NOT NULL, cause TEXT NOT NULL,
    duration INTEGER NOT NULL, counts TEXT NOT NULL
);
INSERT INTO "cycles" VALUES(1,1767600000000017,'train, rest','MachineSilent',1522,'{"granted": 6, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(2,1767600001000018,'train, rest','JobSubmitted',570,'{"granted": 1, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(3,1767600012000019,'train, rest','TaskEnded',187,'{"granted": 0, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(4,1767600013000020,'train, rest','JobSubmitted',312,'{"granted": 1, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(5,1767600014000021,'train, rest','JobSubmitted',1554,'{"granted": 2, "reclaimed": 2, "withdrawn": 0}');
CREATE TABLE entries (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL);
INSERT INTO "entries" VALUES(1,1767600000000002,'["PlanApplied",1,{},[],{}]');
INSERT INTO "entries" VALUES(2,1767600000000004,'["MachineMissed","h1"]');
INSERT INTO "entries" VALUES(3,1767600000000005,'["MachineMissed","h2"]');
INSERT INTO "entries" VALUES(4,1767600000000006,'["MachineMissed","h3"]');
INSERT INTO "entries" VALUES(5,1767600000000007,'["MachineSeen","h1","boot","",[]]');
INSERT INTO "entries" VALUES(6,1767600000000008,'["MachineSeen","h2","boot","",[]]');
INSERT INTO "entries" VALUES(7,1767600000000009,'["MachineSeen","h3","boot","",[]]');
INSERT INTO "entries" VALUES(8,1767600000000010,'["MachineSeen","h1","boot","",[]]');
INSERT INTO "entries" VALUES(9,1767600000000011,'["MachineSeen","h2","boot","",[]]');
INSERT INTO "entries" VALUES(10,1767600000000012,'["MachineSeen","h3","boot","",[]]');
INSERT INTO "entries" VALUES(11,1767600000000014,'["JobAdded","1","/B","",6,0,"ann",1,0,0,0,null,[],[],0,[["gpu","1"]],0,null]');
INSERT INTO "entries" VALUES(12,1767600000000017,'["CycleRan",1,"","MachineSilent"]');
INSERT INTO "entries" VALUES(13,1767600000000017,'["Started",1,"1",0,1,[["h1",1]],"/",[],[0],[]]');
INSERT INTO "entries" VALUES(14,1767600000000017,'["Started",2,"1",1,1,[["h1",1]],"/",[],[1],[]]');
INSERT INTO "entries" VALUES(15,1767600000000017,'["Started",3,"1",2,1,[["h1",1]],"/",[],[2],[]]');
INSERT INTO "entries" VALUES(16,1767600000000017,'["Started",4,"1",3,1,[["h1",1]],"/",[],[3],[]]');
INSERT INTO "entries" VALUES(17,1767600000000017,'["Started",5,"1",4,1,[["h2",1]],"/",[],[0],[]]');
INSERT INTO "entries" VALUES(18,1767600000000017,'["Started",6,"1",5,1,[["h2",1]],"/",[],[1],[]]');
INSERT INTO "entries" VALUES(19,1767600000000017,'["OwnershipAdjusted",["cpu","gpu"],[],[],[]]');
INSERT INTO "entries" VALUES(20,1767600001000015,'["JobAdded","2","/A/a1","",1,0,"bob",1,0,0,0,null,[],[],0,[["gpu","1"]],0,null]');
INSERT INTO "entries" VALUES(21,1767600001000018,'["CycleRan",2,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(22,1767600001000018,'["Started",7,"2",0,1,[["h2",1]],"/",[],[2],[]]');
INSERT INTO "entries" VALUES(23,1767600012000016,'["Ended",1,"done",0,"finished",0,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(24,1767600012000019,'["CycleRan",3,"","TaskEnded"]');
INSERT INTO "entries" VALUES(25,1767600013000017,'["JobAdded","3","/C","",1,0,"ann",1,0,0,0,null,[],[],0,[["gpu","1"]],0,null]');
INSERT INTO "entries" VALUES(26,1767600013000020,'["CycleRan",4,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(27,1767600013000020,'["Started",8,"3",0,1,[["h3",1]],"/",[],[0],[]]');
INSERT INTO "entries" VALUES(28,1767600014000018,'["JobAdded","4","/A/a1","",4,0,"ann",1,0,0,0,null,[],[],0,[["gpu","1"]],0,null]');
INSERT INTO "entries" VALUES(29,1767600014000021,'["CycleRan",5,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(30,1767600014000021,'["Noticed",6,1767600034000021,"quota","/A/a1",5,"4","R-CONTEST-1"]');
INSERT INTO "entries" VALUES(31,1767600014000021,'["Noticed",5,1767600034000021,"quota","/A/a1",5,"4","R-CONTEST-1"]');
INSERT INTO "entries" VALUES(32,1767600014000021,'["Kept","",[["4","h2",2]]]');
INSERT INTO "entries" VALUES(33,1767600014000021,'["Started",9,"4",0,1,[["h1",1]],"/",[],[0],[]]');
INSERT INTO "entries" VALUES(34,1767600014000021,'["Started",10,"4",1,1,[["h2",1]],"/",[],[3],[]]');
INSERT INTO "entries" VALUES(35,1767600034000024,'["Stopping",6,"reclaim"]');
INSERT INTO "entries" VALUES(36,1767600034000024,'["Stopping",5,"reclaim"]');
INSERT INTO "entries" VALUES(37,1767600035000019,'["UsageSpan",1767600000000002,1767600035000019,"eJydj00KAjEMRu+SdWBMf9Wdeoy2iymKu1YGZBaDdzeWWhFHBww0NIH3+OLIGmtWrQQ+F1I/Ztqgc9Dtup4AoU+Ju+IX8zDk8XTk7+ThfLl62HogDzdggFRlq8QihRBwTpTH9Kcj5shd/HQU0nwq9i0DLR+jkUThFSqm29Csctb6PZV+oaKih4bK5UCywOv3s1gTwh34oXNX"]');
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
INSERT INTO "meta" VALUES('plan-file','{"fairhold": 1, "time_zone": "Europe/Zurich", "resources": {"cpu": {}, "gpu": {}}, "resource_groups": {"train": {"hosts": [{"name": "h[1-2]", "cpu": 16, "gpu": 4}]}, "rest": {"hosts": [{"name": "h3", "cpu": 4, "gpu": 1}]}}, "consumers": {"A": {"consumers": {"a1": {"reclaim_grace": "30s"}, "a2": {"reclaim_grace": "10s"}}}, "B": {"reclaim_grace": "20s"}, "C": {}}, "policies": [{"resource_groups": ["train"], "policy": "fair_share", "settings": {}, "consumers": {"/A": {"deserved": {"gpu": 4}}, "/A/a1": {"deserved": {"gpu": 2}}, "/A/a2": {"deserved": {"gpu": 2}}, "/B": {"deserved": {"gpu": 2}, "limit": {"gpu": 6}}}}, {"resource_groups": ["rest"], "policy": "multidimensional", "consumers": {"/C": {}}}]}');
CREATE TABLE plans (
    version INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, author TEXT NOT NULL, comment TEXT NOT NULL,
    "text" TEXT NOT NULL, based_on INTEGER NOT NULL, until INTEGER NOT NULL
);
INSERT INTO "plans" VALUES(1,1767600000000002,'ann','read from plan','{"fairhold": 1, "time_zone": "Europe/Zurich", "resources": {"cpu": {}, "gpu": {}}, "resource_groups": {"train": {"hosts": [{"name": "h[1-2]", "cpu": 16, "gpu": 4}]}, "rest": {"hosts": [{"name": "h3", "cpu": 4, "gpu": 1}]}}, "consumers": {"A": {"consumers": {"a1": {"reclaim_grace": "30s"}, "a2": {"reclaim_grace": "10s"}}}, "B": {"reclaim_grace": "20s"}, "C": {}}, "policies": [{"resource_groups": ["train"], "policy": "fair_share", "settings": {}, "consumers": {"/A": {"deserved": {"gpu": 4}}, "/A/a1": {"deserved": {"gpu": 2}}, "/A/a2": {"deserved": {"gpu": 2}}, "/B": {"deserved": {"gpu": 2}, "limit": {"gpu": 6}}}}, {"resource_groups": ["rest"], "policy": "multidimensional", "consumers": {"/C": {}}}]}',0,0);
CREATE TABLE snapshots (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL);
INSERT INTO "snapshots" VALUES(27,1767600013000020,X'78019D55DB8EDA3010FD9779B6B47112089BB76E3F23A02A044352053B4A1C6885F8F79E190776B7058A1644B0C733C773393339D1C1F443E32CE55A9135BFFC8F9F6E4D79AAA8377EECED4079B15254B56E68EC0EBBD3197A6E63A6E538943B031D9DCDB37974FDC4EA22D0090BE3481505BD7C7B2935295AE30A45317EEE68F13C2D69D78D4BCA97A4977426E86AB6D27315CCF542E9D56AA500F106FDD2B25540EA7B77349B3B2033A563014A550AEBEBE68A9ADC44BDEF1500251E3814C31498F82155555B367BCE550A491056ED3878D3236354D5A5DDC1492C353FB68D6D869A0548FAB16C3C524B79140A40F91C298E59EFDF238DA3E4DE11CE70A1B831258AD45C0156F2A5B1E2AF1DDB3638894D5170E625990824920C4F4522C516A1564FDB7E07D464F8FCA5C860F5BB6A9952E09D90B0F4DEEC3B4FF92BBC0F6BCE6E114BD9355CBBF08BCB0BA6641C4A0D4A8027EA449D732DE5F4027736E6D0548C5DE8D51901260201827E0522160878899B92AF412402311388F41E047AE341209140CC05028CBC1DC86388908B4CBA30FA08111A6F21E97C0C1172B160428228EF5E7CECF81A67FF0904D5B7CE4F25C2A67683975A834852D148F97E34819C2C82577F8BC483490B10FBB2AA1B2B350FA4008B9D27B52DDBC1840600B319269A64685A213F833FAF8C6B9F53864F5D390E3202CE4CC9CED88DB11C27CFD3636337EE386DD66E1A6972743095773D1F516D5A4C0C9EC6DBDE30142F77CEF2F8C50A430BA3BC6E3A6C0BAAA4ABB9B7651CE19269529FD04F983BD3B8BED60A336C70631F1AE59335B92DDFEEFBB2C15BE2849E023EDBCF5E178B6C16FA4F51AA79FCE3899CE828E59E8C52E2E918A6FE4DA3889565424771D07DBB8DCE8A59C67769063D9F11105E548127FC22E0BA251C2B3331C6FF2542B661ABF726090C47DF7CCA81CE18F60F1227E61C');
CREATE TABLE specs (job TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
INSERT INTO "specs" VALUES('1','{"consumer":"/B","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('2','{"consumer":"/A/a1","argv":["true","{index}"],"directory":"/","notice":15,"name":"bob''s"}');
INSERT INTO "specs" VALUES('3','{"consumer":"/C","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('4','{"consumer":"/A/a1","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
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
INSERT INTO "tasks" VALUES(1,'1',0,1,1,'/B','ann','h1',1,'done','finished',0,0,'so it was',1767600000000017,1767600012000016,0,0,'{}');
CREATE TABLE tasks_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES tasks (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "tasks_by_word" VALUES(1,1767600012000016,1);
INSERT INTO "tasks_by_word" VALUES(2,1767600012000016,1);
INSERT INTO "tasks_by_word" VALUES(3,1767600012000016,1);
INSERT INTO "tasks_by_word" VALUES(4,1767600012000016,1);
INSERT INTO "tasks_by_word" VALUES(5,1767600012000016,1);
INSERT INTO "tasks_by_word" VALUES(6,1767600012000016,1);
CREATE TABLE "usage" (
    "begin" INTEGER NOT NULL, "end" INTEGER NOT NULL, consumer TEXT NOT NULL, user TEXT NOT NULL, job TEXT NOT NULL,
    kind TEXT NOT NULL, amount INTEGER NOT NULL
, unit TEXT NOT NULL DEFAULT '?');
INSERT INTO "usage" VALUES(1767600000000002,1767600035000019,'/B','ann','1','own',70000004,'{"gpu":"1"}');
INSERT INTO "usage" VALUES(1767600000000002,1767600035000019,'/B','ann','1','borrowed',117000005,'{"gpu":"1"}');
INSERT INTO "usage" VALUES(1767600000000002,1767600035000019,'/A/a1','bob','2','own',34000001,'{"gpu":"1"}');
INSERT INTO "usage" VALUES(1767600000000002,1767600035000019,'/C','ann','3','borrowed',21999999,'{"gpu":"1"}');
INSERT INTO "usage" VALUES(1767600000000002,1767600035000019,'/A/a1','ann','4','own',20999998,'{"gpu":"1"}');
INSERT INTO "usage" VALUES(1767600000000002,1767600035000019,'/A/a1','ann','4','borrowed',20999998,'{"gpu":"1"}');
CREATE TABLE words (number INTEGER NOT NULL PRIMARY KEY, word TEXT NOT NULL UNIQUE);
INSERT INTO "words" VALUES(1,'c:/B');
INSERT INTO "words" VALUES(2,'u:ann');
INSERT INTO "words" VALUES(3,'s:done');
INSERT INTO "words" VALUES(4,'j:1');
INSERT INTO "words" VALUES(5,'h:h1');
INSERT INTO "words" VALUES(6,'r:finished');
CREATE INDEX submit_keys_at ON submit_keys (at);
CREATE INDEX jobs_ended ON jobs (ended);
CREATE INDEX tasks_ended ON tasks (ended);
CREATE INDEX cycles_of_group ON cycles (resource_group, number);
CREATE INDEX usage_end ON "usage" ("end", "begin");
CREATE INDEX usage_unknown ON "usage" (job) WHERE unit = '?';
COMMIT;
PRAGMA application_id=1179143236;
PRAGMA user_version=6;
