INSERT INTO "delivered" VALUES('msg-t1','100:2','delivered','2026-11-21T07:00:20.102Z');
INSERT INTO "delivered" VALUES('log-1',NULL,'delivered','2026-11-21T07:00:20.142Z');
INSERT INTO "delivered" VALUES('msg-t2','100:3','delivered','2026-11-22T07:00:20.102Z');
INSERT INTO "delivered" VALUES('log-2',NULL,'delivered','2026-11-22T07:00:20.146Z');
INSERT INTO "destinations" VALUES('dana','Dana','channel','telegram','telegram:100',NULL);
INSERT INTO "messages_in" VALUES('weather-note-e33e',2,'task','2026-11-20T18:00:00.457Z','completed','2026-11-21T07:00:00.000Z',NULL,'weather-note-e33e',0,1,NULL,NULL,NULL,'{"prompt":"Tell Dana the weather of the day.","script":null,"originSessionId":"sess-1795197600115-7pgpax"}',NULL,0);
INSERT INTO "messages_in" VALUES('task-1795244420163-kt7c4s',4,'task','2026-11-21T07:00:20.163Z','completed','2026-11-22T07:00:00.000Z',NULL,'weather-note-e33e',0,1,NULL,NULL,NULL,'{"prompt":"Tell Dana the weather of the day.","script":null,"originSessionId":"sess-1795197600115-7pgpax"}',NULL,0);
INSERT INTO "messages_in" VALUES('task-1795330820155-ni6gz8',6,'task','2026-11-22T07:00:20.155Z','pending','2026-11-23T07:00:00.000Z','0 7 * * *','weather-note-e33e',0,1,NULL,NULL,NULL,'{"prompt":"Tell Dana the weather of the day.","script":null,"originSessionId":"sess-1795197600115-7pgpax"}',NULL,0);
INSERT INTO "session_routing" VALUES(1,NULL,NULL,'system:tasks:weather-note-e33e');
