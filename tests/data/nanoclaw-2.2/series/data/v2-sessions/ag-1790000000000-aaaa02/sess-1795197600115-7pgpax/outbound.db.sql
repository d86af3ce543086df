INSERT INTO "messages_out" VALUES('cli-1',3,NULL,'2026-11-20T18:00:00.302Z',NULL,NULL,'system',NULL,NULL,NULL,'{"action":"cli_request","requestId":"cli-1","command":"tasks-create","args":{"name":"weather note","prompt":"Tell Dana the weather of the day.","recurrence":"0 7 * * *"}}');
INSERT INTO "messages_out" VALUES('msg-1',5,'tg-1','2026-11-20T18:00:00.509Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"From now on I tell you each morning at seven."}');
INSERT INTO "processing_ack" VALUES('tg-1','completed','2026-11-20T18:00:00.525Z');
INSERT INTO "session_state" VALUES('continuation:claude','20000000-0000-4000-8000-000000000000','2026-11-20T18:00:00.544Z');
