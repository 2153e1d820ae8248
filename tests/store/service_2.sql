-- The store of a service of format 2, as the Fairhold before format 3 wrote it, with a snapshot and entries after it
-- (tests/live/test_formats.py says what of). Never changed: every later Fairhold takes it up.
PRAGMA auto_vacuum=INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE cycle_documents (
    cycle INTEGER NOT NULL PRIMARY KEY REFERENCES cycles (number), at INTEGER NOT NULL, body BLOB NOT NULL
);
INSERT INTO "cycle_documents" VALUES(7,1767600002180022,X'7801B592416EC2301444AF82BC2E8DE3168AD841AFD0552354598981488E0D76DC2C22EEDE3F0EA1A4158505DD4433F138CFE3FC96796D6BCFE6A3978711CBADF1A1520EBE65497C16AA92A62099CE2861948A7A42DA36261A4EDA29AFDCA7428C9C2EABB2266D82D664A5D63697750C03B30FB696B40CBD760ABBF88174B220D5B213714AEF8E40C89EF74CFA669EA070CFC3C6212F91E91089F81109D923A1BF9128FC47C57324F44FA4182271AA2312B2470E6FF50A12CB7DCB5FC8E59077E1569FE8133757C4EFEF79D838A8F87A9187E8F57E489D8FCC7939E8130C33B371D2C4F9CD56E49CCAB52C2BCC6FD69EC6991C4B962CAE7B1B5CAE3E36CE861DDEE7B6DA855A758BFBA03CE69609F8ADEDCC36850BA68C1CCCF7DABAF8CD452263B250B2D0A5C12033C1C574CCD3319FBCF1D99CF339178FE98C7321DE3B88F4D620D8DD1F75B8DF41E361FEEBA0B8DFA6ACB785930D0A64ABC31756FE3085');
CREATE TABLE cycles (
    number INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, resource_group TEXT NOT NULL, cause TEXT NOT NULL,
    duration INTEGER NOT NULL, counts TEXT NOT NULL
);
INSERT INTO "cycles" VALUES(1,1767600000000017,'compute','MachineSilent',549,'{"granted": 3, "reclaimed": 0, "withdrawn": 0, "idle": 4}');
INSERT INTO "cycles" VALUES(2,1767600000000017,'gpu','MachineSilent',280,'{"granted": 0, "reclaimed": 0, "withdrawn": 0, "idle": 3}');
INSERT INTO "cycles" VALUES(3,1767600000060018,'compute','JobSubmitted',284,'{"granted": 4, "reclaimed": 0, "withdrawn": 0, "idle": 0}');
INSERT INTO "cycles" VALUES(4,1767600000120019,'compute','JobSubmitted',231,'{"granted": 0, "reclaimed": 0, "withdrawn": 0, "idle": 0}');
INSERT INTO "cycles" VALUES(5,1767600001120019,'compute','Woken',196,'{"granted": 0, "reclaimed": 0, "withdrawn": 0, "idle": 0}');
INSERT INTO "cycles" VALUES(6,1767600002120021,'compute','TaskEnded',379,'{"granted": 1, "reclaimed": 0, "withdrawn": 0, "idle": 0}');
INSERT INTO "cycles" VALUES(7,1767600002180022,'compute','JobSubmitted',420,'{"granted": 0, "reclaimed": 2, "withdrawn": 0, "idle": 0}');
INSERT INTO "cycles" VALUES(8,1767600002280023,'compute','JobHeld',313,'{"granted": 0, "reclaimed": 0, "withdrawn": 0, "idle": 0}');
CREATE TABLE entries (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL);
INSERT INTO "entries" VALUES(1,1767600000000002,'["PlanApplied",1,{},[],{}]');
INSERT INTO "entries" VALUES(2,1767600000000004,'["MachineMissed",""]');
INSERT INTO "entries" VALUES(3,1767600000000005,'["MachineMissed","h1"]');
INSERT INTO "entries" VALUES(4,1767600000000006,'["MachineMissed","h2"]');
INSERT INTO "entries" VALUES(5,1767600000000007,'["MachineSeen","","boot","",[]]');
INSERT INTO "entries" VALUES(6,1767600000000008,'["MachineSeen","h1","boot","",[]]');
INSERT INTO "entries" VALUES(7,1767600000000009,'["MachineSeen","h2","boot","",[]]');
INSERT INTO "entries" VALUES(8,1767600000000010,'["MachineSeen","h1","boot","",[]]');
INSERT INTO "entries" VALUES(9,1767600000000011,'["MachineSeen","h2","boot","",[]]');
INSERT INTO "entries" VALUES(10,1767600000000012,'["MachineSeen","","boot","",[]]');
INSERT INTO "entries" VALUES(11,1767600000000014,'["JobAdded","1","/A/a1","compute",3,0,"ann",1,0,2,3600000000,null,[],[],0]');
INSERT INTO "entries" VALUES(12,1767600000000017,'["CycleRan",1,"compute","MachineSilent"]');
INSERT INTO "entries" VALUES(13,1767600000000017,'["Started",1,"1",0,1,[["h1",1]]]');
INSERT INTO "entries" VALUES(14,1767600000000017,'["Started",2,"1",1,1,[["h1",1]]]');
INSERT INTO "entries" VALUES(15,1767600000000017,'["Started",3,"1",2,1,[["h1",1]]]');
INSERT INTO "entries" VALUES(16,1767600000000017,'["CycleRan",2,"gpu","MachineSilent"]');
INSERT INTO "entries" VALUES(17,1767600000060015,'["JobAdded","2","/B","compute",6,0,"bob",1,0,0,0,null,[],[],5000000]');
INSERT INTO "entries" VALUES(18,1767600000060018,'["CycleRan",3,"compute","JobSubmitted"]');
INSERT INTO "entries" VALUES(19,1767600000060018,'["Started",4,"2",0,1,[["h1",1]]]');
INSERT INTO "entries" VALUES(20,1767600000060018,'["Started",5,"2",1,1,[["h2",1]]]');
INSERT INTO "entries" VALUES(21,1767600000060018,'["Started",6,"2",2,1,[["h2",1]]]');
INSERT INTO "entries" VALUES(22,1767600000060018,'["Started",7,"2",3,1,[["h2",1]]]');
INSERT INTO "entries" VALUES(23,1767600000120016,'["UsageSpan",1767600000000002,1767600000120016,"eJyLNjQ3MzczgAMjHYSAoREQm+lERyvpO+onGirpKCXm5QFJECu/HMiKjjY01QGrMtExio2N1cGmMim/qCi/PDUFVbkhVLkTWEUSkDRCmGoGtheq0hirSmRTUZSDDAaqB6Pq2lgAFFY3Ag=="]');
INSERT INTO "entries" VALUES(24,1767600000120016,'["JobAdded","3","/C","compute",2,0,"ann",3,0,0,0,null,[],[],0]');
INSERT INTO "entries" VALUES(25,1767600000120019,'["CycleRan",4,"compute","JobSubmitted"]');
INSERT INTO "entries" VALUES(26,1767600001120019,'["CycleRan",5,"compute","Woken"]');
INSERT INTO "entries" VALUES(27,1767600002120017,'["Running",1]');
INSERT INTO "entries" VALUES(28,1767600002120018,'["Ended",2,"later",1767603602120018,"failed",3,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(29,1767600002120021,'["CycleRan",6,"compute","TaskEnded"]');
INSERT INTO "entries" VALUES(30,1767600002120021,'["Started",8,"2",4,1,[["h1",1]]]');
INSERT INTO "entries" VALUES(31,1767600002180019,'["JobAdded","4","/A/a2","compute",2,0,"ann",2,0,0,0,null,[],[],0]');
INSERT INTO "entries" VALUES(32,1767600002180022,'["CycleRan",7,"compute","JobSubmitted"]');
INSERT INTO "entries" VALUES(33,1767600002180022,'["Noticed",8,1767600002180022,"quota","/A/a2",7]');
INSERT INTO "entries" VALUES(34,1767600002180022,'["Noticed",7,1767600002180022,"quota","/A/a2",7]');
INSERT INTO "entries" VALUES(35,1767600002180022,'["Stopping",8,"reclaim"]');
INSERT INTO "entries" VALUES(36,1767600002180022,'["Stopping",7,"reclaim"]');
INSERT INTO "entries" VALUES(37,1767600002280020,'["HoldSet","2","why"]');
INSERT INTO "entries" VALUES(38,1767600002280023,'["CycleRan",8,"compute","JobHeld"]');
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
INSERT INTO "meta" VALUES('plan-file','{"fairhold": 1, "resource_groups": {"compute": {"hosts": [{"name": "h1", "slots": 4}, {"name": "h2", "slots": 3}]}, "gpu": {"slots": 3}}, "consumers": {"A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}}, "B": {"reclaim_grace": "0s"}, "C": {"reclaim_grace": "1s"}}, "policies": [{"resource_groups": ["compute", "gpu"], "policy": "hybrid", "settings": {"within": "users", "hold_after": "1s"}, "consumers": {"/A": {"owned": 4, "reserved": 1}, "/A/a1": {"owned": 2}, "/B": {"owned": 3}, "/C": {"limit": 3, "budget": {"unit_hours": 1, "period": "day"}}}}]}');
CREATE TABLE plans (
    version INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, author TEXT NOT NULL, comment TEXT NOT NULL,
    "text" TEXT NOT NULL, based_on INTEGER NOT NULL, until INTEGER NOT NULL
);
INSERT INTO "plans" VALUES(1,1767600000000002,'ann','read from plan','{"fairhold": 1, "resource_groups": {"compute": {"hosts": [{"name": "h1", "slots": 4}, {"name": "h2", "slots": 3}]}, "gpu": {"slots": 3}}, "consumers": {"A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}}, "B": {"reclaim_grace": "0s"}, "C": {"reclaim_grace": "1s"}}, "policies": [{"resource_groups": ["compute", "gpu"], "policy": "hybrid", "settings": {"within": "users", "hold_after": "1s"}, "consumers": {"/A": {"owned": 4, "reserved": 1}, "/A/a1": {"owned": 2}, "/B": {"owned": 3}, "/C": {"limit": 3, "budget": {"unit_hours": 1, "period": "day"}}}}]}',0,0);
CREATE TABLE snapshots (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL);
INSERT INTO "snapshots" VALUES(26,1767600001120019,X'78018D54ED6EDB300C7C17FE16504BCA47E77FDB1EC3300AC5D61C0F8E14D872B322C8BBEF48A7CE4753B44D9328E2913A1E4F3ED2ABEF873606CAB5A2E0FFA597BF7143F94251EFD3D88781F2A2545475716843835FC793A271708D4740AF57EB55C67FDAE0BD52F386968D1FAA28E8E9E793D3A4C885804F5EC503564591292DB95699B22CD523E426F67D3CF8FA16AECFF05FA8B5015B45E65155FB10F679495090FFE3090DF7BEEA5CBBE3F697D3BEA8300EC9F71081AAAD0B0D8861A9F9E3E0DA048128CF261929B710CADC84CC7B688190E55083227C8441F7B6D025DAB08529093C66293F687BDE28CB13CA808E90BCA857C5DD7E4C9E9455E022AA6BAC8CB2D3A8A0B90A63D7A12B119D559C73569C239A720EBFCE50D66029E3CA24EBF77596E12C3989CFBCCAC20954BD559D4793CBB3BF5C4A7EB74F943F23675AB30405FC0773C0141717C9797ACD2EDA2286B92B1E0EE46228805F43AD40CD77A0F03C7C7447009AE9E70F04D00BA077042E508EBD735D09F48EC063E85AA0F696EB2328540D31B515CBCAB7731B87241A5E0629822D54EA47AF163CB179C4B4053D3B452C479AFD88615EEDA1E2CE55DB3648FD0221582226527F5C37F8C91118386B954D7B5C8627F42D1C8EFF12070A7B370E72C14E8A6ABFF7A1F681BBE407D0A10D753C9C7FCC375A429BB16EBCE0E696612E5C0F766CEDDE843586C3EE97D63F8BE2183C0A2759B935A66DF966B2430CBE2F37947DAA17D766E4A92DAF36A6E7235FD9FF69E5787E');
CREATE TABLE specs (job TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
INSERT INTO "specs" VALUES('1','{"consumer":"/A/a1","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('2','{"consumer":"/B","argv":["true","{index}"],"directory":"/","notice":15,"name":"bob''s"}');
INSERT INTO "specs" VALUES('3','{"consumer":"/C","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('4','{"consumer":"/A/a2","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
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
INSERT INTO "tasks" VALUES(1,'1',1,1,2,'/A/a1','ann','h1',1,'later','failed',3,0,'so it was',1767600000000017,1767600002120018,0,0,'{}');
CREATE TABLE tasks_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES tasks (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "tasks_by_word" VALUES(1,1767600002120018,1);
INSERT INTO "tasks_by_word" VALUES(2,1767600002120018,1);
INSERT INTO "tasks_by_word" VALUES(3,1767600002120018,1);
INSERT INTO "tasks_by_word" VALUES(4,1767600002120018,1);
INSERT INTO "tasks_by_word" VALUES(5,1767600002120018,1);
INSERT INTO "tasks_by_word" VALUES(6,1767600002120018,1);
INSERT INTO "tasks_by_word" VALUES(7,1767600002120018,1);
CREATE TABLE "usage" (
    "begin" INTEGER NOT NULL, "end" INTEGER NOT NULL, consumer TEXT NOT NULL, user TEXT NOT NULL, job TEXT NOT NULL,
    kind TEXT NOT NULL, amount INTEGER NOT NULL
);
INSERT INTO "usage" VALUES(1767600000000002,1767600000120016,'/A/a1','ann','1','own',239998);
INSERT INTO "usage" VALUES(1767600000000002,1767600000120016,'/A/a1','ann','1','borrowed',119999);
INSERT INTO "usage" VALUES(1767600000000002,1767600000120016,'/B','bob','2','own',179994);
INSERT INTO "usage" VALUES(1767600000000002,1767600000120016,'/B','bob','2','borrowed',59998);
CREATE TABLE words (number INTEGER NOT NULL PRIMARY KEY, word TEXT NOT NULL UNIQUE);
INSERT INTO "words" VALUES(1,'c:/A');
INSERT INTO "words" VALUES(2,'c:/A/a1');
INSERT INTO "words" VALUES(3,'u:ann');
INSERT INTO "words" VALUES(4,'s:later');
INSERT INTO "words" VALUES(5,'j:1');
INSERT INTO "words" VALUES(6,'h:h1');
INSERT INTO "words" VALUES(7,'r:failed');
CREATE INDEX submit_keys_at ON submit_keys (at);
CREATE INDEX jobs_ended ON jobs (ended);
CREATE INDEX tasks_ended ON tasks (ended);
CREATE INDEX cycles_of_group ON cycles (resource_group, number);
CREATE INDEX usage_end ON "usage" ("end", "begin");
COMMIT;
PRAGMA application_id=1179143236;
PRAGMA user_version=2;
