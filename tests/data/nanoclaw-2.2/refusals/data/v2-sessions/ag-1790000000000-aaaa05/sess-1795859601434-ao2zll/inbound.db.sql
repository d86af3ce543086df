INSERT INTO "delivered" VALUES('msg-a1',NULL,'delivered','2026-11-28T09:53:22.233Z');
INSERT INTO "delivered" VALUES('msg-a2',NULL,'failed','2026-11-28T09:53:22.693Z');
INSERT INTO "destinations" VALUES('dana','Dana','channel','telegram','telegram:100',NULL);
INSERT INTO "destinations" VALUES('finder','Finder','agent',NULL,NULL,'ag-1790000000000-bbbb05');
INSERT INTO "messages_in" VALUES('tg-1',2,'chat','2026-11-28T09:53:21.760Z','completed',NULL,NULL,'tg-1',0,1,'telegram:100','telegram',NULL,'{"text":"When does the library close?","sender":"Dana","senderId":"telegram:100"}',NULL,0);
INSERT INTO "messages_in" VALUES('tg-2',4,'chat','2026-11-28T09:53:22.603Z','completed',NULL,NULL,'tg-2',0,1,'telegram:100','telegram',NULL,'{"text":"And tomorrow?","sender":"Dana","senderId":"telegram:100"}',NULL,0);
INSERT INTO "messages_in" VALUES('tg-3',6,'chat','2026-11-28T09:53:22.728Z','completed',NULL,NULL,'tg-3',0,1,'telegram:100','telegram',NULL,'{"text":"Hello?","sender":"Dana","senderId":"telegram:100"}',NULL,0);
INSERT INTO "session_routing" VALUES(1,'telegram','telegram:100',NULL);
