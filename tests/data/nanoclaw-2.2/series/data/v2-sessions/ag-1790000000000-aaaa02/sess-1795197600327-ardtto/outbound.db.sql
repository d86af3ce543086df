INSERT INTO "messages_out" VALUES('msg-t1',3,'weather-note-e33e','2026-11-21T07:00:20.007Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"Sunny, 21 degrees."}');
INSERT INTO "messages_out" VALUES('log-1',5,NULL,'2026-11-21T07:00:20.033Z',NULL,NULL,'task_log',NULL,NULL,NULL,'{"text":"Told Dana that it is sunny."}');
INSERT INTO "messages_out" VALUES('msg-t2',7,'task-1795244420163-kt7c4s','2026-11-22T07:00:20.007Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"Rain, 12 degrees."}');
INSERT INTO "messages_out" VALUES('log-2',9,NULL,'2026-11-22T07:00:20.029Z',NULL,NULL,'task_log',NULL,NULL,NULL,'{"text":"Told Dana of the rain. [undelivered → dana] Take a coat."}');
INSERT INTO "processing_ack" VALUES('weather-note-e33e','completed','2026-11-21T07:00:20.055Z');
INSERT INTO "processing_ack" VALUES('task-1795244420163-kt7c4s','completed','2026-11-22T07:00:20.068Z');
INSERT INTO "session_state" VALUES('continuation:claude','22222222-2222-4222-8222-222222222222','2026-11-22T07:00:20.077Z');
