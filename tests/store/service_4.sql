-- The store of a service of format 4, as the Fairhold before format 5 wrote it, with a snapshot and entries after it
-- (tests/live/test_formats.py says what of). Never changed: every later Fairhold takes it up.
PRAGMA auto_vacuum=INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE cycle_documents (
    cycle INTEGER NOT NULL PRIMARY KEY REFERENCES cycles (number), at INTEGER NOT NULL, body BLOB NOT NULL
);
INSERT INTO "cycle_documents" VALUES(3,1767600064000027,X'7801258FCB0E823010457F85742D5AEA335DFA0DAE34C6543A4213E8C8B49505E1DF65CAACE6DC3BCF4934647C0C42178FE7A6100475675C9F791235FA907AA0C515BBABC87EC04435BC1AC2F4653D92717EB5860421B25631B7B842AB989277798B5AF20FE6897BD62D18DB390FDCA6A43A95B22AE5F1262F5A2A2D0F5BB9843ADFD70526A0E7C221613462E68347175B4B66643D7F80EF00F4039B79FE0317CD40F7');
INSERT INTO "cycle_documents" VALUES(4,1767600066000028,X'7801258F4D0E82301085AF42BA162D8D12C2D233B8D21853E9084DA023D3561684BBDB29B39AEFBDF95D454FDA052FDAE2F13C1482A01BB59D32AFA243E7E304945C71BA8AEC7B8CD4C1AB278C5FD60369EB766B8EE0036B15F3803B0C8A293A9BB7A8947F304F3CB36E409BD13AE03625555DCAAA94979B6C5AA95A591F650AD5DCF705DAA3E3C23962D062E383171B06437A613D7F806F0FF4039379FB0318ED40FB');
INSERT INTO "cycle_documents" VALUES(5,1767600068000029,X'78012D8E4D0E82301085AF42BA166D6B30C8DA23B8D21853E9084DA023D3561684BBDB166735DF7BF3F316D691B2DEB1A6B83F760523680765C6CC0B6BD1BA300245971D2E2CFB0E03B5F0EC08C327E938DBCD9802389F1499B8C70DFA63A2604DFE2162FFC67CAF4ABA06A5076321AF71792AB9287975E575C34523EB3D8F25CFB7ED817268D3E014D02BB6A6B8B3F1BD261523FCF3E3CB017D41675E7F755B4039');
CREATE TABLE cycles (
    number INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, resource_group TEXT NOT NULL, cause TEXT NOT NULL,
    duration INTEGER NOT NULL, counts TEXT NOT NULL
);
INSERT INTO "cycles" VALUES(1,1767600000000017,'train, own','MachineSilent',2673,'{"granted": 8, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(2,1767600002000026,'train, own','JobSubmitted',2417,'{"granted": 2, "reclaimed": 0, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(3,1767600064000027,'train, own','JobSubmitted',3180,'{"granted": 0, "reclaimed": 2, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(4,1767600066000028,'train, own','JobSubmitted',3275,'{"granted": 0, "reclaimed": 2, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(5,1767600068000029,'train, own','JobSubmitted',3396,'{"granted": 0, "reclaimed": 1, "withdrawn": 0}');
INSERT INTO "cycles" VALUES(6,1767600075000030,'train, own','TaskEnded',3174,'{"granted": 1, "reclaimed": 0, "withdrawn": 0}');
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
INSERT INTO "entries" VALUES(11,1767600000000014,'["JobAdded","1","/B","",9,0,"ann",1,0,0,0,null,[],[],0,[["gpu","1"]],0]');
INSERT INTO "entries" VALUES(12,1767600000000017,'["CycleRan",1,"","MachineSilent"]');
INSERT INTO "entries" VALUES(13,1767600000000017,'["Started",1,"1",0,1,[["h1",1]],"/",[],[0],[]]');
INSERT INTO "entries" VALUES(14,1767600000000017,'["Started",2,"1",1,1,[["h1",1]],"/",[],[1],[]]');
INSERT INTO "entries" VALUES(15,1767600000000017,'["Started",3,"1",2,1,[["h1",1]],"/",[],[2],[]]');
INSERT INTO "entries" VALUES(16,1767600000000017,'["Started",4,"1",3,1,[["h1",1]],"/",[],[3],[]]');
INSERT INTO "entries" VALUES(17,1767600000000017,'["Started",5,"1",4,1,[["h2",1]],"/",[],[0],[]]');
INSERT INTO "entries" VALUES(18,1767600000000017,'["Started",6,"1",5,1,[["h2",1]],"/",[],[1],[]]');
INSERT INTO "entries" VALUES(19,1767600000000017,'["Started",7,"1",6,1,[["h2",1]],"/",[],[2],[]]');
INSERT INTO "entries" VALUES(20,1767600000000017,'["Started",8,"1",7,1,[["h2",1]],"/",[],[3],[]]');
INSERT INTO "entries" VALUES(21,1767600000000017,'["OwnershipAdjusted",["cpu","gpu"],[["h3","/C","8","2"]]]');
INSERT INTO "entries" VALUES(22,1767600002000015,'["Running",1]');
INSERT INTO "entries" VALUES(23,1767600002000016,'["Running",2]');
INSERT INTO "entries" VALUES(24,1767600002000017,'["Running",3]');
INSERT INTO "entries" VALUES(25,1767600002000018,'["Running",4]');
INSERT INTO "entries" VALUES(26,1767600002000019,'["Running",5]');
INSERT INTO "entries" VALUES(27,1767600002000020,'["Running",6]');
INSERT INTO "entries" VALUES(28,1767600002000021,'["Running",7]');
INSERT INTO "entries" VALUES(29,1767600002000022,'["Running",8]');
INSERT INTO "entries" VALUES(30,1767600002000023,'["JobAdded","2","/D","",2,0,"ann",1,0,0,0,null,[],[],0,[["cpu","2"],["gpu","1"]],0]');
INSERT INTO "entries" VALUES(31,1767600002000026,'["CycleRan",2,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(32,1767600002000026,'["Started",9,"2",0,1,[["h3",1]],"/",["/C"],[0],[]]');
INSERT INTO "entries" VALUES(33,1767600002000026,'["Started",10,"2",1,1,[["h3",1]],"/",["/C"],[1],[]]');
INSERT INTO "entries" VALUES(34,1767600064000024,'["JobAdded","3","/A/a1","",3,100,"ann",1,0,0,0,null,[],[],0,[["gpu","1"]],0]');
INSERT INTO "entries" VALUES(35,1767600064000027,'["CycleRan",3,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(36,1767600064000027,'["Noticed",8,1767600124000027,"quota","/A/a1",3,"3","R-TAKE-1"]');
INSERT INTO "entries" VALUES(37,1767600064000027,'["Noticed",7,1767600124000027,"quota","/A/a1",3,"3","R-TAKE-1"]');
INSERT INTO "entries" VALUES(38,1767600064000027,'["Kept","",[["3","h2",2]]]');
INSERT INTO "entries" VALUES(39,1767600066000025,'["JobAdded","4","/A/a2","",4,0,"ann",1,0,0,0,null,[],[],0,[["cpu","3"],["gpu","1"]],2]');
INSERT INTO "entries" VALUES(40,1767600066000028,'["CycleRan",4,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(41,1767600066000028,'["Noticed",6,1767600126000028,"quota","/A/a2",4,"4","R-TAKE-1"]');
INSERT INTO "entries" VALUES(42,1767600066000028,'["Noticed",5,1767600126000028,"quota","/A/a2",4,"4","R-TAKE-1"]');
INSERT INTO "entries" VALUES(43,1767600066000028,'["Kept","",[["3","h2",2],["4","h2",2]]]');
INSERT INTO "entries" VALUES(44,1767600068000026,'["JobAdded","5","/C","",1,0,"ann",1,0,0,0,null,[],[],0,[["gpu","1"]],0]');
INSERT INTO "entries" VALUES(45,1767600068000029,'["CycleRan",5,"","JobSubmitted"]');
INSERT INTO "entries" VALUES(46,1767600068000029,'["Noticed",10,1767600088000029,"quota","/C",5,"5","R-TAKE-2"]');
INSERT INTO "entries" VALUES(47,1767600068000029,'["Kept","",[["3","h2",2],["4","h2",2],["5","h3",1]]]');
INSERT INTO "entries" VALUES(48,1767600075000027,'["Ended",1,"done",0,"finished",0,0,"so it was",0,0]');
INSERT INTO "entries" VALUES(49,1767600075000030,'["CycleRan",6,"","TaskEnded"]');
INSERT INTO "entries" VALUES(50,1767600075000030,'["Started",11,"3",0,1,[["h1",1]],"/",[],[0],[]]');
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
INSERT INTO "meta" VALUES('plan-file','{"fairhold": 1, "time_zone": "Europe/Zurich", "resources": {"cpu": {}, "gpu": {}}, "resource_groups": {"train": {"hosts": [{"name": "h1", "cpu": 16, "gpu": 4}, {"name": "h2", "cpu": 16, "gpu": 4}]}, "own": {"hosts": [{"name": "h3", "cpu": 8, "gpu": 2}]}}, "consumers": {"A": {"consumers": {"a1": {"reclaim_grace": "30s"}, "a2": {}}}, "B": {"reclaim_grace": "1m"}, "C": {}, "D": {"reclaim_grace": "20s"}}, "policies": [{"resource_groups": ["train"], "policy": "fair_share", "settings": {"k": 1, "half_life": "1d"}, "consumers": {"/A": {"deserved": {"gpu": 4}}, "/A/a1": {"deserved": {"gpu": 2}}, "/A/a2": {"deserved": {"gpu": 2}}, "/B": {"deserved": {"gpu": 2}, "over_quota_weight": 2}}}, {"resource_groups": ["own"], "policy": "multidimensional", "consumers": {"/C": {"own": [{"resource_group": "own", "hosts": 1}]}, "/D": {}}}]}');
CREATE TABLE plans (
    version INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, author TEXT NOT NULL, comment TEXT NOT NULL,
    "text" TEXT NOT NULL, based_on INTEGER NOT NULL, until INTEGER NOT NULL
);
INSERT INTO "plans" VALUES(1,1767600000000002,'ann','read from plan','{"fairhold": 1, "time_zone": "Europe/Zurich", "resources": {"cpu": {}, "gpu": {}}, "resource_groups": {"train": {"hosts": [{"name": "h1", "cpu": 16, "gpu": 4}, {"name": "h2", "cpu": 16, "gpu": 4}]}, "own": {"hosts": [{"name": "h3", "cpu": 8, "gpu": 2}]}}, "consumers": {"A": {"consumers": {"a1": {"reclaim_grace": "30s"}, "a2": {}}}, "B": {"reclaim_grace": "1m"}, "C": {}, "D": {"reclaim_grace": "20s"}}, "policies": [{"resource_groups": ["train"], "policy": "fair_share", "settings": {"k": 1, "half_life": "1d"}, "consumers": {"/A": {"deserved": {"gpu": 4}}, "/A/a1": {"deserved": {"gpu": 2}}, "/A/a2": {"deserved": {"gpu": 2}}, "/B": {"deserved": {"gpu": 2}, "over_quota_weight": 2}}}, {"resource_groups": ["own"], "policy": "multidimensional", "consumers": {"/C": {"own": [{"resource_group": "own", "hosts": 1}]}, "/D": {}}}]}',0,0);
CREATE TABLE snapshots (seq INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL);
INSERT INTO "snapshots" VALUES(33,1767600002000026,X'7801AD55DB8E9B3010FD9779B614EC5C97B75EFE02A1154BBC40456C0426D955C4BFF7CC38A19B4ABDA88528607BECE339C733E32B9D6D3F34DE51AA1539FB169EBFF9174AD78A7A1BC6DE0D9466B9A2B2F543E32AF4AE93A271282A0B83DEEFF6BB647E8C9A070C0F9A9DCA325A7D26458573786BFC5F7CDFFB8B3D126C7AABE2C48D3AE47814B6C20A9868F56955F074FE1AFE32CAEA0BBFBE12CF4A5482E96801E4105B772C2D16C6BB4EF0BDB7655B3427666264071840681C82EDC187CABA70151C4253F3EB5234015C6745283D80B3793025512C4ACD041B8004FE4696D4139C8B9C355AFC7363DBC6CDD101C7AA1BC145137C49408259291037B0FE7E61290B0D6BF008C2A4DECBD682A7B91D6511823D75014C70B8B70ECB90A10B7113A57F9C989CA2DEB36F356C9AD5A36678EE47E7448DD08F5651E77D4B29ADE0EDD19E9B92B7CB921C3A435C0605E432A05A4011880045642D036A047423A0EBA540D702BA15D0CDAF4011C4FFA0E94E40B74B81464DF702BA5B0A346A7A10D0FD52A051D327CEBBC738FD5059EAF55DD30F51D95A774449435472B94052FC1CA6A80E0CFA10A7FF01CA926217E7C32D19D0A9FD1024CF90D1924D8992EC914CE72121F538042EF32C409C8AB26E9C64574C48144E1F48BD16ED606335010F5E93C431AE078CFB57F3B0D91FE7C189AE1807298C13CBD8B1B28E89F11D7069DCD15F6E9DB9A88BE96CCBE0F908AE54DB1685956F90D7DE3214372BEFF8F640CB5F1CCEAA6E3A74338AA58D2B23C8800D7B2925FF80062A5E9E635F5C4F515A94051E54B80934DEF3D5130B19F2F07E39C5C35D63F5F41D6097F02E');
CREATE TABLE specs (job TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
INSERT INTO "specs" VALUES('1','{"consumer":"/B","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('2','{"consumer":"/D","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('3','{"consumer":"/A/a1","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('4','{"consumer":"/A/a2","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
INSERT INTO "specs" VALUES('5','{"consumer":"/C","argv":["true","{index}"],"directory":"/","notice":15,"name":"ann''s"}');
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
INSERT INTO "tasks" VALUES(1,'1',0,1,1,'/B','ann','h1',1,'done','finished',0,0,'so it was',1767600000000017,1767600075000027,0,0,'{}');
CREATE TABLE tasks_by_word (
    word INTEGER NOT NULL REFERENCES words (number), ended INTEGER NOT NULL, row INTEGER NOT NULL REFERENCES tasks (number),
    PRIMARY KEY (word, ended, row)
) WITHOUT ROWID;
INSERT INTO "tasks_by_word" VALUES(1,1767600075000027,1);
INSERT INTO "tasks_by_word" VALUES(2,1767600075000027,1);
INSERT INTO "tasks_by_word" VALUES(3,1767600075000027,1);
INSERT INTO "tasks_by_word" VALUES(4,1767600075000027,1);
INSERT INTO "tasks_by_word" VALUES(5,1767600075000027,1);
INSERT INTO "tasks_by_word" VALUES(6,1767600075000027,1);
CREATE TABLE "usage" (
    "begin" INTEGER NOT NULL, "end" INTEGER NOT NULL, consumer TEXT NOT NULL, user TEXT NOT NULL, job TEXT NOT NULL,
    kind TEXT NOT NULL, amount INTEGER NOT NULL
);
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
COMMIT;
PRAGMA application_id=1179143236;
PRAGMA user_version=4;
