-- The store of a service of format 1, as the Fairhold before format 2 wrote it, with a snapshot and entries after it
-- (tests/live/test_formats.py says what of). Never changed: every later Fairhold takes it up.
PRAGMA auto_vacuum=INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE cycle_documents (
    cycle INTEGER NOT NULL PRIMARY KEY REFERENCES cycles (number), at INTEGER NOT NULL, body BLOB NOT NULL
);
INSERT INTO "cycle_documents" VALUES(6,1767600000400034,X'7801B593CD6EC23010845F05F95C1A270454716BFB0A3D15A1CA4A0C89E4D8E0C4E510F1EEDD71E29494FE44AAB8A0313BCEE759AF5B562BD3D46C3D5BDECD586674ED2A69B16E59E47F7359099D935C91414B19A43969AF39FD6D652DEDBB24534C2B555665435A3BA5682994329968BC39A5F5D199465019C09D95D8C5CFA4A347522D1B78F0F63CC8C0839ECC4BC81C780BD2635E24E23112F61E091990D09F4804FE2522CA01898D5F91C924E4B8AB7F208109485CC008F9348987E64C8E78C9BB8AF83CE6E1E87D4B21434B7FCE87FBBD1C19384338E8211C66666F85F6D3BB6987E1253ECD12EE960C94C9389BC9B7BD35EE805266AA836B64573C3A596354993717A65B1409AA4E97FED3F179EB3F942951567819DFB0FC86A9AC74136F0118701E3EE0A8B233769422972257A5C65361094F56731ECFF9F2853FAC395FF3E43EE59C2FD2D72E93A88D86B16B1A75E9BA3537396EFFDCFF735634FA5436456EC5091936DBF30788124F66');
CREATE TABLE cycles (
    number INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, resource_group TEXT NOT NULL, cause TEXT NOT NULL,
    duration INTEGER NOT NULL, counts TEXT NOT NULL
);
INSERT INTO "cycles" VALUES(1,1767600000000016,'compute','MachineSilent',541,'{"granted": 6, "reclaimed": 0, "withdrawn": 0, "idle": 1}');
INSERT INTO "cycles" VALUES(2,1767600000000016,'gpu','MachineSilent',319,'{"granted": 2, "reclaimed": 0, "withdrawn": 0, "idle": 1}');
INSERT INTO "cycles" VALUES(3,1767600000100022,'compute','TaskEnded',362,'{"granted": 2, "reclaimed": 0, "withdrawn": 0, "idle": 1}');
INSERT INTO "cycles" VALUES(4,1767600000200032,'compute','JobSubmitted',196,'{"granted": 0, "reclaimed": 0, "withdrawn": 0, "idle": 1}');
INSERT INTO "cycles" VALUES(5,1767600000200032,'gpu','JobSubmitted',145,'{"granted": 0, "reclaimed": 0, "withdrawn": 0, "idle": 1}');
INSERT INTO "cycles" VALUES(6,1767600000400034,'compute','TaskEnded',534,'{"granted": 1, "reclaimed": 2, "withdrawn": 0, "idle": 0}');
CREATE TABLE entries (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL);
INSERT INTO "entries" VALUES(1,1767600000000002,'["PlanApplied",1,{},[]]');
INSERT INTO "entries" VALUES(2,1767600000000004,'["MachineMissed",""]');
INSERT INTO "entries" VALUES(3,1767600000000005,'["MachineMissed","h1"]');
INSERT INTO "entries" VALUES(4,1767600000000006,'["MachineMissed","h2"]');
INSERT INTO "entries" VALUES(5,1767600000000007,'["MachineSeen","","boot",""]');
INSERT INTO "entries" VALUES(6,1767600000000008,'["MachineSeen","h1","boot",""]');
INSERT INTO "entries" VALUES(7,1767600000000009,'["MachineSeen","h2","boot",""]');
INSERT INTO "entries" VALUES(8,1767600000000011,'["JobAdded","1","/A/a1","compute",4,0,"ann",1,0,2,3600000000,null,[]]');
INSERT INTO "entries" VALUES(9,1767600000000012,'["JobAdded","2","/B","compute",6,0,"bob",1,2,0,0,null,[]]');
INSERT INTO "entries" VALUES(10,1767600000000013,'["JobAdded","3","/C","gpu",3,0,"cy",1,0,0,0,null,[]]');
INSERT INTO "entries" VALUES(11,1767600000000014,'["JobAdded","4","/A/a2","compute",2,1,"ann",2,0,0,0,null,[]]');
INSERT INTO "entries" VALUES(12,1767600000000016,'["CycleRan",1,"compute","MachineSilent"]');
INSERT INTO "entries" VALUES(13,1767600000000016,'["Started",1,"1",0,1,[["h1",1]]]');
INSERT INTO "entries" VALUES(14,1767600000000016,'["Started",2,"1",1,1,[["h1",1]]]');
INSERT INTO "entries" VALUES(15,1767600000000016,'["Started",3,"1",2,1,[["h1",1]]]');
INSERT INTO "entries" VALUES(16,1767600000000016,'["Started",4,"1",3,1,[["h1",1]]]');
INSERT INTO "entries" VALUES(17,1767600000000016,'["Started",5,"2",0,1,[["h2",1]]]');
INSERT INTO "entries" VALUES(18,1767600000000016,'["Started",6,"2",1,1,[["h2",1]]]');
INSERT INTO "entries" VALUES(19,1767600000000016,'["CycleRan",2,"gpu","MachineSilent"]');
INSERT INTO "entries" VALUES(20,1767600000000016,'["Started",7,"3",0,1,[["",1]]]');
INSERT INTO "entries" VALUES(21,1767600000000016,'["Started",8,"3",1,1,[["",1]]]');
INSERT INTO "entries" VALUES(22,1767600000100015,'["UsageSpan",1767600000000002,1767600000100015,"eJyLNjQ3MzczgAMjHYSAIQib6kRHK+k76icaKukoJeblAUkQK78cyIqONjTRAasy1jGKjY3VwaYyKb+oKL88NQW7ciewiiQgaYTPVGegZHIlkDDGayJQLRhV18YCAKGDNW0="]');
INSERT INTO "entries" VALUES(23,1767600000100015,'["Running",1]');
INSERT INTO "entries" VALUES(24,1767600000100016,'["Running",2]');
INSERT INTO "entries" VALUES(25,1767600000100017,'["Running",3]');
INSERT INTO "entries" VALUES(26,1767600000100018,'["Running",4]');
INSERT INTO "entries" VALUES(27,1767600000100019,'["Ended",1,"later",1767603600100019,"failed",3,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(28,1767600000100020,'["Ended",2,"done",0,"finished",0,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(29,1767600000100022,'["CycleRan",3,"compute","TaskEnded"]');
INSERT INTO "entries" VALUES(30,1767600000100022,'["Started",9,"4",0,1,[["h1",2]]]');
INSERT INTO "entries" VALUES(31,1767600000200021,'["Closing","h2",[1767609000200020,1767699000200020,"dust",true]]');
INSERT INTO "entries" VALUES(32,1767600000200022,'["UsageSpan",1767600000100015,1767600000200022,"eJx9jjsKgDAMhu/SOWAbq53VY4QOvlYLLiLi3U2qqKgYkp+QfHmQcbnLtZiRyOAqoAQCkUqKpDYKVD0MrJKFiTMiDTKlHaD3Hr7AJoxjmPpupy2DQBb4zDFQRqZhxZ+1FffamSV9rXw/gOcD9kG7O8149GX1Gx7sQY8="]');
INSERT INTO "entries" VALUES(33,1767600000200022,'["PlanApplied",2,{},[[1767650000200021,1,{}]]]');
INSERT INTO "entries" VALUES(34,1767600000200025,'["JobAdded","5","/C","compute",1,0,"ann",1,0,0,0,"",[]]');
INSERT INTO "entries" VALUES(35,1767600000200026,'["JobAdded","6","/B","compute",5,0,"cy",1,0,0,0,null,[["2","ok"]]]');
INSERT INTO "entries" VALUES(36,1767600000200027,'["HoldSet","4","why"]');
INSERT INTO "entries" VALUES(37,1767600000200028,'["JobRanked","2",3]');
INSERT INTO "entries" VALUES(38,1767600000200029,'["Paused","gpu",true,false]');
INSERT INTO "entries" VALUES(39,1767600000200030,'["MachineShut","h1","broken"]');
INSERT INTO "entries" VALUES(40,1767600000200030,'["Drained",3,1767600002200030]');
INSERT INTO "entries" VALUES(41,1767600000200030,'["Drained",4,1767600002200030]');
INSERT INTO "entries" VALUES(42,1767600000200030,'["Drained",9,1767600002200030]');
INSERT INTO "entries" VALUES(43,1767600000200032,'["CycleRan",4,"compute","JobSubmitted"]');
INSERT INTO "entries" VALUES(44,1767600000200032,'["CycleRan",5,"gpu","JobSubmitted"]');
INSERT INTO "entries" VALUES(45,1767600000400031,'["Ended",3,"again",0,"yielded",75,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(46,1767600000400032,'["Ended",4,"again",0,"yielded",75,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(47,1767600000400034,'["CycleRan",6,"compute","TaskEnded"]');
INSERT INTO "entries" VALUES(48,1767600000400034,'["Noticed",9,1767600002400034,"quota","/A/a1",6]');
INSERT INTO "entries" VALUES(49,1767600000400034,'["Started",10,"1",3,2,[["h2",1]]]');
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
INSERT INTO "meta" VALUES('plan-file','{"fairhold": 1, "resource_groups": {"compute": {"hosts": [{"name": "h1", "slots": 4}, {"name": "h2", "slots": 3}]}, "gpu": {"slots": 3}}, "consumers": {"A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}}, "B": {"reclaim_grace": "0s"}, "C": {"reclaim_grace": "1s"}}, "policies": [{"resource_groups": ["compute", "gpu"], "policy": "hybrid", "settings": {"within": "users"}, "consumers": {"/A": {"owned": 4, "reserved": 1}, "/A/a1": {"owned": 2}, "/B": {"owned": 3}, "/C": {"limit": 3}}}]}');
CREATE TABLE plans (
    version INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, author TEXT NOT NULL, comment TEXT NOT NULL,
    "text" TEXT NOT NULL, based_on INTEGER NOT NULL, until INTEGER NOT NULL
);
INSERT INTO "plans" VALUES(1,1767600000000002,'ann','read from plan','{"fairhold": 1, "resource_groups": {"compute": {"hosts": [{"name": "h1", "slots": 4}, {"name": "h2", "slots": 3}]}, "gpu": {"slots": 3}}, "consumers": {"A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}}, "B": {"reclaim_grace": "0s"}, "C": {"reclaim_grace": "1s"}}, "policies": [{"resource_groups": ["compute", "gpu"], "policy": "hybrid", "settings": {"within": "users"}, "consumers": {"/A": {"owned": 4, "reserved": 1}, "/A/a1": {"owned": 2}, "/B": {"owned": 3}, "/C": {"limit": 3}}}]}',0,0);
INSERT INTO "plans" VALUES(2,1767600000200022,'ann','more','{"fairhold": 1, "resource_groups": {"compute": {"hosts": [{"name": "h1", "slots": 4}, {"name": "h2", "slots": 3}]}, "gpu": {"slots": 3}}, "consumers": {"A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}}, "B": {"reclaim_grace": "0s"}, "C": {"reclaim_grace": "1s"}}, "policies": [{"resource_groups": ["compute", "gpu"], "policy": "hybrid", "settings": {"within": "users"}, "consumers": {"/A": {"owned": 4, "reserved": 1}, "/A/a1": {"owned": 2}, "/B": {"owned": 3}, "/C": {"limit": 4}}}]}',1,1767650000200021);
CREATE TABLE snapshots (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL);
INSERT INTO "snapshots" VALUES(34,1767600000200025,X'78019D54DB8EA24014FC97F3DCC9D080B8F2B6B39F4188416C950D3686CBBA13E2BF6F55B722E3E866B35E08F4B971AAEA9C517E99B6AB1A2B69A8C49ADFFDFA67B3913451D29A7E686D276996E965B24C16013E21FF5A69355EF25C4959375D65F7701AE510C2D57906AB9B67A0DCC16A7620DBA1EB45F5ED60F28B92A12BF6660A9C4A843E90CFBEE6426599BC7D7F2BB42829ACC59577CD19775916A8488539DE083EEF38DEA00725E173871F382E3F7089F0DF346DDB9CCDF6310B2A31DC578A5F38A29EFB010CE255D645752460913F7700A15BD3129FF250D83D0AE156F3B2AB6CD51D78A0959C8BAA079092069E054963255B53171F8E802B8E4194048106247AA534F1DF15553DB4E6E6733B32DB3519CDE4A085208399F15E02994934188729FA64C29BDC4DF173137CF6E8843543E01D67612E797E412E34EADABF135536C7D3D01B51B142630E4C8DBB50B111FF5176A86BE0357137C5248C714C6A4404F8CE5DC9E2FE340898871BF964E647AF2B8D534EE8EAFA1E3EE3D79C932BD3DD5F99890522A1C850ADAC097A741D99A2EFCDF104443543FC83E3040E50298BFAC1B835AD13CA19EC381A47A9BA753B58EB14C0C9B8000DD0047BF45FB10B277EA8E6795D289BF2A16C334C3A1FFFC575E946E655D659CE6FCEF155CE99E34A0966EB7346EA3B84B23C3E986A353AC1490AADE95CDCE2B14D5F954EF7A0E3D074BD835B26F21CB6B1DB322AA6B46616B41B794B448B1311A89DCE90F1589487CAFAB982092A6CB0B37645DD192F428A81C1A4F02F56AE90E7B128722A86CEED830B47FD64ECD658F631E2194BD877C4FCCCC25DC535B46059028619729D3D08EB0BE3F34D4AF969288AEBFC26C540C7B303B7DF171CE73F548DA4CE');
CREATE TABLE specs (job TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
INSERT INTO "specs" VALUES('1','{"consumer":"/A/a1","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('2','{"consumer":"/B","argv":["true","{index}"],"directory":"/","notice":15,"name":"bob''s"}');
INSERT INTO "specs" VALUES('3','{"consumer":"/C","argv":["true","{index}"],"directory":"/","notice":15,"name":"cy''s"}');
INSERT INTO "specs" VALUES('4','{"consumer":"/A/a2","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('5','{"consumer":"/C","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('6','{"consumer":"/B","argv":["true","{index}"],"directory":"/","notice":15,"name":"cy''s"}');
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
INSERT INTO "tasks" VALUES(1,'1',0,1,1,'/A/a1','ann','h1',1,'later','failed',3,0,'so it was',1767600000000016,1767600000100019,0,0,'{}');
INSERT INTO "tasks" VALUES(2,'1',1,1,2,'/A/a1','ann','h1',1,'done','finished',0,0,'so it was',1767600000000016,1767600000100020,0,0,'{}');
INSERT INTO "tasks" VALUES(3,'1',2,1,3,'/A/a1','ann','h1',1,'again','yielded',75,0,'{"detail":"so it was","reclaim":[0,1767600000200030,1767600002200030,"host",""]}',1767600000000016,1767600000400031,0,0,'{}');
INSERT INTO "tasks" VALUES(4,'1',3,1,4,'/A/a1','ann','h1',1,'again','yielded',75,0,'{"detail":"so it was","reclaim":[0,1767600000200030,1767600002200030,"host",""]}',1767600000000016,1767600000400032,0,0,'{}');
CREATE TABLE tasks_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES tasks (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "tasks_by_word" VALUES(1,1767600000100019,1);
INSERT INTO "tasks_by_word" VALUES(1,1767600000100020,2);
INSERT INTO "tasks_by_word" VALUES(1,1767600000400031,3);
INSERT INTO "tasks_by_word" VALUES(1,1767600000400032,4);
INSERT INTO "tasks_by_word" VALUES(2,1767600000100019,1);
INSERT INTO "tasks_by_word" VALUES(2,1767600000100020,2);
INSERT INTO "tasks_by_word" VALUES(2,1767600000400031,3);
INSERT INTO "tasks_by_word" VALUES(2,1767600000400032,4);
INSERT INTO "tasks_by_word" VALUES(3,1767600000100019,1);
INSERT INTO "tasks_by_word" VALUES(3,1767600000100020,2);
INSERT INTO "tasks_by_word" VALUES(3,1767600000400031,3);
INSERT INTO "tasks_by_word" VALUES(3,1767600000400032,4);
INSERT INTO "tasks_by_word" VALUES(4,1767600000100019,1);
INSERT INTO "tasks_by_word" VALUES(5,1767600000100019,1);
INSERT INTO "tasks_by_word" VALUES(5,1767600000100020,2);
INSERT INTO "tasks_by_word" VALUES(5,1767600000400031,3);
INSERT INTO "tasks_by_word" VALUES(5,1767600000400032,4);
INSERT INTO "tasks_by_word" VALUES(6,1767600000100019,1);
INSERT INTO "tasks_by_word" VALUES(6,1767600000100020,2);
INSERT INTO "tasks_by_word" VALUES(6,1767600000400031,3);
INSERT INTO "tasks_by_word" VALUES(6,1767600000400032,4);
INSERT INTO "tasks_by_word" VALUES(7,1767600000100019,1);
INSERT INTO "tasks_by_word" VALUES(8,1767600000100020,2);
INSERT INTO "tasks_by_word" VALUES(9,1767600000100020,2);
INSERT INTO "tasks_by_word" VALUES(10,1767600000400031,3);
INSERT INTO "tasks_by_word" VALUES(10,1767600000400032,4);
INSERT INTO "tasks_by_word" VALUES(11,1767600000400031,3);
INSERT INTO "tasks_by_word" VALUES(11,1767600000400032,4);
CREATE TABLE "usage" (
    "begin" INTEGER NOT NULL, "end" INTEGER NOT NULL, consumer TEXT NOT NULL, user TEXT NOT NULL, job TEXT NOT NULL,
    kind TEXT NOT NULL, amount INTEGER NOT NULL
);
INSERT INTO "usage" VALUES(1767600000000002,1767600000100015,'/A/a1','ann','1','own',199998);
INSERT INTO "usage" VALUES(1767600000000002,1767600000100015,'/A/a1','ann','1','borrowed',199998);
INSERT INTO "usage" VALUES(1767600000000002,1767600000100015,'/B','bob','2','own',199998);
INSERT INTO "usage" VALUES(1767600000000002,1767600000100015,'/C','cy','3','borrowed',199998);
INSERT INTO "usage" VALUES(1767600000100015,1767600000200022,'/A/a1','ann','1','own',200014);
INSERT INTO "usage" VALUES(1767600000100015,1767600000200022,'/A/a1','ann','1','borrowed',9);
INSERT INTO "usage" VALUES(1767600000100015,1767600000200022,'/B','bob','2','own',200014);
INSERT INTO "usage" VALUES(1767600000100015,1767600000200022,'/C','cy','3','borrowed',200014);
INSERT INTO "usage" VALUES(1767600000100015,1767600000200022,'/A/a2','ann','4','borrowed',200000);
CREATE TABLE words (number INTEGER NOT NULL PRIMARY KEY, word TEXT NOT NULL UNIQUE);
INSERT INTO "words" VALUES(1,'c:/A');
INSERT INTO "words" VALUES(2,'c:/A/a1');
INSERT INTO "words" VALUES(3,'u:ann');
INSERT INTO "words" VALUES(4,'s:later');
INSERT INTO "words" VALUES(5,'j:1');
INSERT INTO "words" VALUES(6,'h:h1');
INSERT INTO "words" VALUES(7,'r:failed');
INSERT INTO "words" VALUES(8,'s:done');
INSERT INTO "words" VALUES(9,'r:finished');
INSERT INTO "words" VALUES(10,'s:again');
INSERT INTO "words" VALUES(11,'r:yielded');
CREATE INDEX submit_keys_at ON submit_keys (at);
CREATE INDEX jobs_ended ON jobs (ended);
CREATE INDEX tasks_ended ON tasks (ended);
CREATE INDEX cycles_of_group ON cycles (resource_group, number);
CREATE INDEX usage_end ON "usage" ("end", "begin");
COMMIT;
PRAGMA application_id=1179143236;
PRAGMA user_version=1;
