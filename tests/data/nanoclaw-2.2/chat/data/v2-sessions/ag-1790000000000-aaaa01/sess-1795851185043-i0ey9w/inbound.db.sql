INSERT INTO "delivered" VALUES('msg-1','100:1','delivered','2026-11-28T07:33:05.249Z');
INSERT INTO "delivered" VALUES('msg-2','100:2','delivered','2026-11-28T07:33:05.263Z');
INSERT INTO "destinations" VALUES('dana','Dana','channel','telegram','telegram:100',NULL);
INSERT INTO "messages_in" VALUES('tg-1',2,'chat','2026-11-28T07:33:05.129Z','completed',NULL,NULL,'tg-1',0,1,'telegram:100','telegram',NULL,'{"text":"When is the summer fair?","sender":"Dana","senderId":"telegram:100"}',NULL,0);
INSERT INTO "session_routing" VALUES(1,'telegram','telegram:100',NULL);
