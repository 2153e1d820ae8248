-- The store of a service of format 8, as the Fairhold before format 9 wrote it, with a snapshot and an entry after it,
-- an access document, a token and a record. Never changed: every later Fairhold takes it up.
PRAGMA auto_vacuum=INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE accesses (
    version INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, author TEXT NOT NULL, comment TEXT NOT NULL,
    "text" TEXT NOT NULL
, seal INTEGER NOT NULL DEFAULT 0);
INSERT INTO "accesses" VALUES(1,1767600001000014,'ann','first','fairhold_access: 1
users: [ben, dan]',745198873);
CREATE TABLE cycle_documents (
    cycle INTEGER NOT NULL PRIMARY KEY REFERENCES cycles (number), at INTEGER NOT NULL, body BLOB NOT NULL
, seal INTEGER NOT NULL DEFAULT 0);
CREATE TABLE cycles (
    number INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, resource_group TEXT NOT NULL, cause TEXT NOT NULL,
    duration INTEGER NOT NULL, counts TEXT NOT NULL
, seal INTEGER NOT NULL DEFAULT 0);
INSERT INTO "cycles" VALUES(1,1767600000000010,'compute','MachineSilent',444,'{"granted": 2, "reclaimed": 0, "withdrawn": 0, "idle": 6}',1443815889);
INSERT INTO "cycles" VALUES(2,1767600001000019,'compute','TaskEnded',342,'{"granted": 8, "reclaimed": 0, "withdrawn": 0, "idle": 0}',2971596898);
CREATE TABLE entries (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL, seal INTEGER NOT NULL DEFAULT 0);
INSERT INTO "entries" VALUES(1,1767600000000002,'["PlanApplied",1,{},[],{}]',4253238821);
INSERT INTO "entries" VALUES(2,1767600000000004,'["MachineMissed",""]',3827354064);
INSERT INTO "entries" VALUES(3,1767600000000005,'["MachineSeen","","boot","",[]]',3788245625);
INSERT INTO "entries" VALUES(4,1767600000000007,'["JobAdded","1","/A/a1","compute",2,0,"ben",1,0,0,0,null,[],[],0,[],0,null]',1127334597);
INSERT INTO "entries" VALUES(5,1767600000000010,'["CycleRan",1,"compute","MachineSilent"]',2808628439);
INSERT INTO "entries" VALUES(6,1767600000000010,'["Started",1,"1",0,1,[["",1]],"",[],[],[]]',1225977156);
INSERT INTO "entries" VALUES(7,1767600000000010,'["Started",2,"1",1,1,[["",1]],"",[],[],[]]',1812808388);
INSERT INTO "entries" VALUES(8,1767600001000008,'["Running",1]',2942619986);
INSERT INTO "entries" VALUES(9,1767600001000009,'["Ended",1,"done",0,"finished",0,0,"",0,0]',350238873);
INSERT INTO "entries" VALUES(10,1767600001000010,'["Running",2]',1531632491);
INSERT INTO "entries" VALUES(11,1767600001000011,'["Ended",2,"done",0,"finished",0,0,"",0,0]',4162526152);
INSERT INTO "entries" VALUES(12,1767600001000011,'["JobEnded","1","done"]',2138489022);
INSERT INTO "entries" VALUES(13,1767600001000012,'["JobAdded","2","/A/a1","compute",3,0,"ben",1,0,0,0,null,[],[],0,[],0,null]',3809933907);
INSERT INTO "entries" VALUES(14,1767600001000013,'["JobAdded","3","/B","compute",9,0,"dan",1,0,0,0,null,[],[],0,[],0,null]',3422061383);
INSERT INTO "entries" VALUES(15,1767600001000019,'["CycleRan",2,"compute","TaskEnded"]',710181425);
INSERT INTO "entries" VALUES(16,1767600001000019,'["Started",3,"2",0,1,[["",1]],"",[],[],[]]',2546832728);
INSERT INTO "entries" VALUES(17,1767600001000019,'["Started",4,"2",1,1,[["",1]],"",[],[],[]]',300128341);
INSERT INTO "entries" VALUES(18,1767600001000019,'["Started",5,"2",2,1,[["",1]],"",[],[],[]]',184722356);
INSERT INTO "entries" VALUES(19,1767600001000019,'["Started",6,"3",0,1,[["",1]],"",[],[],[]]',3524642506);
INSERT INTO "entries" VALUES(20,1767600001000019,'["Started",7,"3",1,1,[["",1]],"",[],[],[]]',1312894941);
INSERT INTO "entries" VALUES(21,1767600001000019,'["Started",8,"3",2,1,[["",1]],"",[],[],[]]',2354931098);
INSERT INTO "entries" VALUES(22,1767600001000019,'["Started",9,"3",3,1,[["",1]],"",[],[],[]]',2448374923);
INSERT INTO "entries" VALUES(23,1767600001000019,'["Started",10,"3",4,1,[["",1]],"",[],[],[]]',4291696722);
INSERT INTO "entries" VALUES(24,1767600003000017,'["UsageSpan",1767600000000002,1767600003000017,"eJyNUckKwyAQ/RfPA3Eh0R7b35A5pMRbicUu+f26JzSRVkQHfduoZnKQA62DQz0QYWEStCYdAZLmZJc5VlpzEKAQEbb3NzM/8z3L/KTTA/vGOvMw7m2mjKfgzT3Cq8Y98ukJis6O/7pvmCoyi1fJdf4nGC/gbmQecjWhw1CtvaqUgkoPLskk1IRHAjxU1jm71A5bL7LjrcatrJfwF2NAid8+x6S2icBIQPwAAP98Hg=="]',2821934920);
INSERT INTO "entries" VALUES(25,1767600003000017,'["JobAdded","4","/C","compute",1,0,"dan",1,0,0,0,"",[],[],0,[],0,null]',3685027878);
CREATE TABLE jobs (
    number INTEGER NOT NULL PRIMARY KEY,
    job TEXT NOT NULL UNIQUE, consumer TEXT NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    submitted INTEGER NOT NULL, ended INTEGER NOT NULL, labels TEXT NOT NULL, summary TEXT NOT NULL
, seal INTEGER NOT NULL DEFAULT 0);
INSERT INTO "jobs" VALUES(1,'1','/A/a1','ben','of ben','done',1767600000000007,1767600001000011,'{}','{"tasks": 2, "waiting": 0, "delayed": 0, "running": 0, "done": 2, "failed": 0, "cancelled": 0, "reclaimed": 0, "resource_group": "compute", "priority": 0, "units": 1, "throttle": 0, "retries": 0, "after": [], "exit_code": 0}',4120688479);
CREATE TABLE jobs_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES jobs (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "jobs_by_word" VALUES(1,1767600001000011,1);
INSERT INTO "jobs_by_word" VALUES(2,1767600001000011,1);
INSERT INTO "jobs_by_word" VALUES(3,1767600001000011,1);
INSERT INTO "jobs_by_word" VALUES(4,1767600001000011,1);
CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, seal INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
INSERT INTO "meta" VALUES('cluster','',1630579464);
INSERT INTO "meta" VALUES('created','1767600000000001',2304526786);
INSERT INTO "meta" VALUES('identity','d7a1eae0',3435422520);
INSERT INTO "meta" VALUES('node','n1',3304588438);
INSERT INTO "meta" VALUES('plan-file','{"fairhold": 1, "resource_groups": {"compute": {"slots": 8}}, "consumers": {"A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}}, "B": {"reclaim_grace": "0s"}, "C": {"reclaim_grace": "1s"}}, "policies": [{"resource_groups": ["compute"], "policy": "hybrid", "settings": {"within": "users"}, "consumers": {"/A": {"owned": 4, "reserved": 1}, "/A/a1": {"owned": 2}, "/B": {"owned": 3}, "/C": {"limit": 3}}}]}',4255870772);
CREATE TABLE past_labels (job TEXT NOT NULL PRIMARY KEY, ended INTEGER NOT NULL, labels TEXT NOT NULL, seal INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE plans (
    version INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, author TEXT NOT NULL, comment TEXT NOT NULL,
    "text" TEXT NOT NULL, based_on INTEGER NOT NULL, until INTEGER NOT NULL
, seal INTEGER NOT NULL DEFAULT 0);
INSERT INTO "plans" VALUES(1,1767600000000002,'ann','read from plan','{"fairhold": 1, "resource_groups": {"compute": {"slots": 8}}, "consumers": {"A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}}, "B": {"reclaim_grace": "0s"}, "C": {"reclaim_grace": "1s"}}, "policies": [{"resource_groups": ["compute"], "policy": "hybrid", "settings": {"within": "users"}, "consumers": {"/A": {"owned": 4, "reserved": 1}, "/A/a1": {"owned": 2}, "/B": {"owned": 3}, "/C": {"limit": 3}}}]}',0,0,1644591041);
CREATE TABLE records (
    seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL, via TEXT NOT NULL, origin TEXT NOT NULL,
    action TEXT NOT NULL, target TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL, "before" TEXT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO "records" VALUES(1,1767600001000015,'ann','uid 1000','here','apply_access','1','done','{}','0000000000000000000000000000000000000000000000000000000000000000','f651c7a3ef7d74b51e295cb6e0e780756fc5cbaf75d63f97a90ff5fb8864ae40');
CREATE TABLE snapshots (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL, seal INTEGER NOT NULL DEFAULT 0);
INSERT INTO "snapshots" VALUES(23,1767600001000019,X'78018D54DB6EA33010FD173F5B2A863424BCB5BF81D0CA31D3848AD8C836CDAE22FE7DCF1892B669A58470198FCFDCCE7872161FE443E7ACA8941496FEC63FEF6E27AA95149EE2E86D1055DD48617A173ABBC7EA3C01E75A5AC431E83D01A3CA75B9CEAE572EAF0AC54AB595752D9E8414F3DDBA934D525DE7B2909BA669E4D77D4F81FC07B50B269370080490E99B7C665B39FB2EA1BBB11F872F969B6479C15E62BD3C6905D08E3811963E53429054492973985EE4F98BA00806351E70647ADD1D99A41C9A5969FA3144F2A04A9883B67B540131E7D7497711348A2A9BC91655013A8B6F5BA09EFB20AAE7097B7094DC839C2561E38EC3184980367849E92B48FCB363DFA71C807E454557E896A1AD46A5B7501461FE999EDB992F0740C748C70109281C8965C115827D54014FEAD7E6C23728394F6001250008D83DE07302A2B7F7806B66E991D065023E107A93800F84DE2660713F47058E91E4EA1E12945B173BC39CF36C1D5C8889DFCF7E614A3632FA917832A4386A73E86CC2D73C403BE7A2906FBA0F34F71C91999D6CD1C16BC676831E433A7D13BA4F03D9962C87E2193E751643B82C76CE7B77BA40F10F30E78326A22234143DC7FB66A47FCC78D134D3F41FEAAF2403',3964156847);
CREATE TABLE specs (job TEXT NOT NULL UNIQUE, body TEXT NOT NULL, seal INTEGER NOT NULL DEFAULT 0);
INSERT INTO "specs" VALUES('1','{"consumer":"/A/a1","argv":["true"],"directory":"/","notice":15,"user":"ben","name":"of ben"}',3592466086);
INSERT INTO "specs" VALUES('2','{"consumer":"/A/a1","argv":["true"],"directory":"/","notice":15,"user":"ben","name":"of ben"}',1216406785);
INSERT INTO "specs" VALUES('3','{"consumer":"/B","argv":["true"],"directory":"/","notice":15,"user":"dan","name":"of dan"}',3103814854);
INSERT INTO "specs" VALUES('4','{"consumer":"/C","argv":["true"],"directory":"/","notice":15,"user":"dan","name":"of dan"}',3621396437);
CREATE TABLE submit_keys (
    user TEXT NOT NULL, "key" TEXT NOT NULL, job TEXT NOT NULL, at INTEGER NOT NULL, seal INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user, "key")
) WITHOUT ROWID;
INSERT INTO "submit_keys" VALUES('ben','k1','1',1767600000000007,3260602442);
INSERT INTO "submit_keys" VALUES('ben','k2','2',1767600001000012,4212009405);
INSERT INTO "submit_keys" VALUES('dan','k3','3',1767600001000013,2585106573);
INSERT INTO "submit_keys" VALUES('dan','k4','4',1767600003000017,226011018);
CREATE TABLE tasks (
    number INTEGER NOT NULL PRIMARY KEY,
    job TEXT NOT NULL, task INTEGER NOT NULL, try INTEGER NOT NULL, attempt INTEGER NOT NULL,
    consumer TEXT NOT NULL, user TEXT NOT NULL, host TEXT NOT NULL, units INTEGER NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL, code INTEGER NOT NULL, "signal" INTEGER NOT NULL, detail TEXT NOT NULL,
    started INTEGER NOT NULL, ended INTEGER NOT NULL, cpu INTEGER NOT NULL, peak INTEGER NOT NULL, labels TEXT NOT NULL, seal INTEGER NOT NULL DEFAULT 0,
    UNIQUE (job, task, try)
);
INSERT INTO "tasks" VALUES(1,'1',0,1,1,'/A/a1','ben','',1,'done','finished',0,0,'',1767600000000010,1767600001000009,0,0,'{}',884893471);
INSERT INTO "tasks" VALUES(2,'1',1,1,2,'/A/a1','ben','',1,'done','finished',0,0,'',1767600000000010,1767600001000011,0,0,'{}',1242349015);
CREATE TABLE tasks_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES tasks (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "tasks_by_word" VALUES(1,1767600001000009,1);
INSERT INTO "tasks_by_word" VALUES(1,1767600001000011,2);
INSERT INTO "tasks_by_word" VALUES(2,1767600001000009,1);
INSERT INTO "tasks_by_word" VALUES(2,1767600001000011,2);
INSERT INTO "tasks_by_word" VALUES(3,1767600001000009,1);
INSERT INTO "tasks_by_word" VALUES(3,1767600001000011,2);
INSERT INTO "tasks_by_word" VALUES(4,1767600001000009,1);
INSERT INTO "tasks_by_word" VALUES(4,1767600001000011,2);
INSERT INTO "tasks_by_word" VALUES(5,1767600001000009,1);
INSERT INTO "tasks_by_word" VALUES(5,1767600001000011,2);
INSERT INTO "tasks_by_word" VALUES(6,1767600001000009,1);
INSERT INTO "tasks_by_word" VALUES(6,1767600001000011,2);
INSERT INTO "tasks_by_word" VALUES(7,1767600001000009,1);
INSERT INTO "tasks_by_word" VALUES(7,1767600001000011,2);
CREATE TABLE tokens (
    number INTEGER NOT NULL PRIMARY KEY, user TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL,
    created INTEGER NOT NULL, expires INTEGER NOT NULL, creator TEXT NOT NULL, revoked INTEGER NOT NULL,
    used INTEGER NOT NULL
, seal INTEGER NOT NULL DEFAULT 0);
INSERT INTO "tokens" VALUES(1,'ben','laptop','3e991658846322624d9e37d95f4779902ff144a96d342cff66c39bd4a3a4ed8f',1767600001000016,0,'ann',0,0,1899134500);
CREATE TABLE "usage" (
    "begin" INTEGER NOT NULL, "end" INTEGER NOT NULL, consumer TEXT NOT NULL, user TEXT NOT NULL, job TEXT NOT NULL,
    kind TEXT NOT NULL, amount INTEGER NOT NULL
, unit TEXT NOT NULL DEFAULT '?', seal INTEGER NOT NULL DEFAULT 0);
INSERT INTO "usage" VALUES(1767600000000002,1767600003000017,'/','','','up',24000112,'',3003793490);
INSERT INTO "usage" VALUES(1767600000000002,1767600003000017,'/','','','reserved',15,'',3879776519);
INSERT INTO "usage" VALUES(1767600000000002,1767600003000017,'/','','','down',8,'',2146787707);
INSERT INTO "usage" VALUES(1767600000000002,1767600003000017,'/A/a1','ben','1','own',2000000,'',152221751);
INSERT INTO "usage" VALUES(1767600000000002,1767600003000017,'/A/a1','ben','2','own',3999996,'',2468860820);
INSERT INTO "usage" VALUES(1767600000000002,1767600003000017,'/A/a1','ben','2','borrowed',1999998,'',3029500766);
INSERT INTO "usage" VALUES(1767600000000002,1767600003000017,'/B','dan','3','own',5999994,'',2069299561);
INSERT INTO "usage" VALUES(1767600000000002,1767600003000017,'/B','dan','3','borrowed',3999996,'',1666483762);
INSERT INTO "usage" VALUES(1767600000000002,1767600003000017,'/','','','lent',1999998,'',4281779749);
INSERT INTO "usage" VALUES(1767600000000002,1767600003000017,'/A','','','lent',3999996,'',3980290163);
CREATE TABLE words (number INTEGER NOT NULL PRIMARY KEY, word TEXT NOT NULL UNIQUE);
INSERT INTO "words" VALUES(1,'c:/A');
INSERT INTO "words" VALUES(2,'c:/A/a1');
INSERT INTO "words" VALUES(3,'u:ben');
INSERT INTO "words" VALUES(4,'s:done');
INSERT INTO "words" VALUES(5,'j:1');
INSERT INTO "words" VALUES(6,'h:');
INSERT INTO "words" VALUES(7,'r:finished');
CREATE INDEX submit_keys_at ON submit_keys (at);
CREATE INDEX jobs_ended ON jobs (ended);
CREATE INDEX tasks_ended ON tasks (ended);
CREATE INDEX cycles_of_group ON cycles (resource_group, number);
CREATE INDEX usage_end ON "usage" ("end", "begin");
CREATE INDEX usage_unknown ON "usage" (job) WHERE unit = '?';
CREATE INDEX past_labels_ended ON past_labels (ended);
PRAGMA application_id=1179143236;
PRAGMA user_version=8;
COMMIT;
