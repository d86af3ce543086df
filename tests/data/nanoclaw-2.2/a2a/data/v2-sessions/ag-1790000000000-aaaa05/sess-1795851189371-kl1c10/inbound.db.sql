INSERT INTO "delivered" VALUES('msg-a1',NULL,'delivered','2026-11-28T07:33:09.643Z');
INSERT INTO "delivered" VALUES('msg-a2','100:2','delivered','2026-11-28T07:33:09.823Z');
INSERT INTO "delivered" VALUES('msg-a3',NULL,'delivered','2026-11-28T07:33:09.934Z');
INSERT INTO "destinations" VALUES('dana','Dana','channel','telegram','telegram:100',NULL);
INSERT INTO "destinations" VALUES('finder','Finder','agent',NULL,NULL,'ag-1790000000000-bbbb05');
INSERT INTO "messages_in" VALUES('tg-1',2,'chat','2026-11-28T07:33:09.476Z','completed',NULL,NULL,'tg-1',0,1,'telegram:100','telegram',NULL,'{"text":"When does the library close?","sender":"Dana","senderId":"telegram:100"}',NULL,0);
INSERT INTO "messages_in" VALUES('a2a-1795851189762-2i556t',4,'chat','2026-11-28T07:33:09.762Z','completed',NULL,NULL,'a2a-1795851189762-2i556t',0,1,'ag-1790000000000-bbbb05','agent',NULL,'{"text":"At 18:00."}','sess-1795851189538-udvgvs',0);
INSERT INTO "messages_in" VALUES('tg-2',6,'chat','2026-11-28T07:33:09.849Z','completed',NULL,NULL,'tg-2',0,1,'telegram:100','telegram',NULL,'{"text":"And tomorrow?","sender":"Dana","senderId":"telegram:100"}',NULL,0);
INSERT INTO "session_routing" VALUES(1,'telegram','telegram:100',NULL);
