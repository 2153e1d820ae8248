-- The store of a service of format 6, as the Fairhold before format 7 wrote it (tests/live/test_formats.py says what of).
-- Never changed: every later Fairhold takes it up.
PRAGMA auto_vacuum=INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE cycle_documents (
    cycle INTEGER NOT NULL PRIMARY KEY REFERENCES cycles (number), at INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE TABLE cycles (
    number INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, resource_group TEXT NOT NULL, cause TEXT NOT NULL,
    duration INTEGER NOT NULL, counts TEXT NOT NULL
);
INSERT INTO "cycles" VALUES(1,1795814679624452,'compute','MachineSilent',146,'{"granted": 0, "reclaimed": 0, "withdrawn": 0, "idle": 4}');
INSERT INTO "cycles" VALUES(2,1795814679728664,'compute','JobSubmitted',96,'{"granted": 1, "reclaimed": 0, "withdrawn": 0, "idle": 3}');
INSERT INTO "cycles" VALUES(3,1795814679743864,'compute','TaskEnded',1629,'{"granted": 0, "reclaimed": 0, "withdrawn": 0, "idle": 4}');
INSERT INTO "cycles" VALUES(4,1795814679776089,'compute','JobSubmitted',7451,'{"granted": 4, "reclaimed": 0, "withdrawn": 0, "idle": 0}');
INSERT INTO "cycles" VALUES(5,1795814679811233,'compute','JobSubmitted',79,'{"granted": 0, "reclaimed": 0, "withdrawn": 0, "idle": 0}');
CREATE TABLE entries (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL);
INSERT INTO "entries" VALUES(1,1795814679367788,'["PlanApplied",1,{},[],{}]');
INSERT INTO "entries" VALUES(2,1795814679377818,'["MachineMissed",""]');
INSERT INTO "entries" VALUES(3,1795814679624158,'["MachineSeen","","boot","",[]]');
INSERT INTO "entries" VALUES(4,1795814679624452,'["CycleRan",1,"compute","MachineSilent"]');
INSERT INTO "entries" VALUES(5,1795814679728245,'["JobAdded","1","/Research","compute",1,0,"ben",1,0,0,10000000,null,[],[],0,[],0,null]');
INSERT INTO "entries" VALUES(6,1795814679728664,'["CycleRan",2,"compute","JobSubmitted"]');
INSERT INTO "entries" VALUES(7,1795814679728664,'["Started",1,"1",0,1,[["",1]],"",[],[],[]]');
INSERT INTO "entries" VALUES(8,1795814679734271,'["Running",1]');
INSERT INTO "entries" VALUES(9,1795814679742171,'["Ended",1,"done",0,"finished",0,0,"",0,0]');
INSERT INTO "entries" VALUES(10,1795814679742171,'["JobEnded","1","done"]');
INSERT INTO "entries" VALUES(11,1795814679743864,'["CycleRan",3,"compute","TaskEnded"]');
INSERT INTO "entries" VALUES(12,1795814679775626,'["JobAdded","2","/Research","compute",6,0,"ben",1,0,0,10000000,null,[],[],0,[],0,null]');
INSERT INTO "entries" VALUES(13,1795814679776089,'["CycleRan",4,"compute","JobSubmitted"]');
INSERT INTO "entries" VALUES(14,1795814679776089,'["Started",2,"2",0,1,[["",1]],"",[],[],[]]');
INSERT INTO "entries" VALUES(15,1795814679776089,'["Started",3,"2",1,1,[["",1]],"",[],[],[]]');
INSERT INTO "entries" VALUES(16,1795814679776089,'["Started",4,"2",2,1,[["",1]],"",[],[],[]]');
INSERT INTO "entries" VALUES(17,1795814679776089,'["Started",5,"2",3,1,[["",1]],"",[],[],[]]');
INSERT INTO "entries" VALUES(18,1795814679789330,'["Running",2]');
INSERT INTO "entries" VALUES(19,1795814679789476,'["Running",3]');
INSERT INTO "entries" VALUES(20,1795814679789491,'["Running",4]');
INSERT INTO "entries" VALUES(21,1795814679789501,'["Running",5]');
INSERT INTO "entries" VALUES(22,1795814679810926,'["JobAdded","3","/Trading/Risk","compute",1,0,"dan",1,0,0,10000000,"",[],[],0,[],0,null]');
INSERT INTO "entries" VALUES(23,1795814679811233,'["CycleRan",5,"compute","JobSubmitted"]');
CREATE TABLE jobs (
    number INTEGER NOT NULL PRIMARY KEY,
    job TEXT NOT NULL UNIQUE, consumer TEXT NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    submitted INTEGER NOT NULL, ended INTEGER NOT NULL, labels TEXT NOT NULL, summary TEXT NOT NULL
);
INSERT INTO "jobs" VALUES(1,'1','/Research','ben','over','done',1795814679728245,1795814679742171,'{}','{"tasks": 1, "waiting": 0, "delayed": 0, "running": 0, "done": 1, "failed": 0, "cancelled": 0, "reclaimed": 0, "resource_group": "compute", "priority": 0, "units": 1, "throttle": 0, "retries": 0, "after": [], "exit_code": 0}');
CREATE TABLE jobs_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES jobs (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "jobs_by_word" VALUES(1,1795814679742171,1);
INSERT INTO "jobs_by_word" VALUES(2,1795814679742171,1);
INSERT INTO "jobs_by_word" VALUES(3,1795814679742171,1);
CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('cluster','bank');
INSERT INTO "meta" VALUES('created','1767600000000000');
INSERT INTO "meta" VALUES('node','n');
INSERT INTO "meta" VALUES('plan-file','fairhold: 1
cluster: bank
resource_groups: {compute: {slots: 4}}
consumers: {Trading: {consumers: {Risk: {}, FX: {}}}, Research: {}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      /Trading: {owned: 2}
');
CREATE TABLE plans (
    version INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, author TEXT NOT NULL, comment TEXT NOT NULL,
    "text" TEXT NOT NULL, based_on INTEGER NOT NULL, until INTEGER NOT NULL
);
INSERT INTO "plans" VALUES(1,1795814679367788,'ann','read from plan.yaml','fairhold: 1
cluster: bank
resource_groups: {compute: {slots: 4}}
consumers: {Trading: {consumers: {Risk: {}, FX: {}}}, Research: {}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      /Trading: {owned: 2}
',0,0);
CREATE TABLE snapshots (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL);
INSERT INTO "snapshots" VALUES(23,1795814679811233,X'78019D53D16EDC2010FC977D468A31D8F8FC1951DE2C2B2298DCB9F5C10970AFD5C9FFDEC1B67249D33EA47E400BDED96566961BFDB0218EDE51CB1939FB333D7FF32FD44A46C1A639B8486DD73332938FA33B62775B90E707BB8773D4478B1CAE0E55C365AD0EA256AA69D8FDA0E1BC1482751D3D3CDA6875302762F4621D569E231F82BFDA0121214BD445A36A2694148D60BCEF7BF63764F919298B46149C4929A4AC98DC914F410FB8FA5A1D0D68B22EFDA315EB3E974077DC006A98498FE72C478593EDD04C734C3640143227ED8EE080B0CCCB558F29776DCB4D5648BA403964AF353E3232FE7C99932556B3625786232A182FB68FB9799AD69E00EE841E1EC7F81D44DEC019428386AC7F80B3AC590C32BFCC948DAB76AB754AF67C49D4D68CF63813EC7067C88BF6EF5C540ABE1CB28BA88F62371AE373989D5B59A630DB05AA881509DC97919838F42CFF030936406254BED81382389F469315C9337EF231ADF4EF9282AB64995B9E2646676D4EA35BF3B30C985C8F517AD553B49B433020EB56EC67A85A64DC45CF719D8D0506D98B75036610ADF25BBA8E6EF0D77DF3F614D65F7889DB7DF2AC0B82BCB004EBFD692955D565FD8E77C38B4359F7FDB2FC06D3311AEB');
CREATE TABLE specs (job TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
INSERT INTO "specs" VALUES('1','{"consumer":"/Research","argv":["true"],"directory":"/","notice":15,"user":"ben","name":"over"}');
INSERT INTO "specs" VALUES('2','{"consumer":"/Research","argv":["true"],"directory":"/","notice":15,"user":"ben"}');
INSERT INTO "specs" VALUES('3','{"consumer":"/Trading/Risk","argv":["true"],"directory":"/","notice":15,"user":"dan"}');
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
INSERT INTO "tasks" VALUES(1,'1',0,1,1,'/Research','ben','',1,'done','finished',0,0,'',1795814679728664,1795814679742171,0,0,'{}');
CREATE TABLE tasks_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES tasks (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "tasks_by_word" VALUES(1,1795814679742171,1);
INSERT INTO "tasks_by_word" VALUES(2,1795814679742171,1);
INSERT INTO "tasks_by_word" VALUES(3,1795814679742171,1);
INSERT INTO "tasks_by_word" VALUES(4,1795814679742171,1);
INSERT INTO "tasks_by_word" VALUES(5,1795814679742171,1);
INSERT INTO "tasks_by_word" VALUES(6,1795814679742171,1);
CREATE TABLE "usage" (
    "begin" INTEGER NOT NULL, "end" INTEGER NOT NULL, consumer TEXT NOT NULL, user TEXT NOT NULL, job TEXT NOT NULL,
    kind TEXT NOT NULL, amount INTEGER NOT NULL
, unit TEXT NOT NULL DEFAULT '?');
CREATE TABLE words (number INTEGER NOT NULL PRIMARY KEY, word TEXT NOT NULL UNIQUE);
INSERT INTO "words" VALUES(1,'c:/Research');
INSERT INTO "words" VALUES(2,'u:ben');
INSERT INTO "words" VALUES(3,'s:done');
INSERT INTO "words" VALUES(4,'j:1');
INSERT INTO "words" VALUES(5,'h:');
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
