INSERT INTO "agent_destinations" VALUES('ag-1790000000000-aaaa05','dana','channel','mg-1','2026-11-28T07:33:09.357Z');
INSERT INTO "agent_destinations" VALUES('ag-1790000000000-aaaa05','finder','agent','ag-1790000000000-bbbb05','2026-11-28T07:33:09.368Z');
INSERT INTO "agent_destinations" VALUES('ag-1790000000000-bbbb05','andy','agent','ag-1790000000000-aaaa05','2026-11-28T07:33:09.368Z');
INSERT INTO "agent_groups" VALUES('ag-1790000000000-aaaa05','Andy','family',NULL,'2026-11-28T07:33:09.344Z');
INSERT INTO "agent_groups" VALUES('ag-1790000000000-bbbb05','Finder','finder',NULL,'2026-11-28T07:33:09.350Z');
INSERT INTO "agent_message_policies" VALUES('ag-1790000000000-bbbb05','ag-1790000000000-aaaa05','telegram:100','2026-11-28T07:33:09.370Z');
INSERT INTO "container_configs" VALUES('ag-1790000000000-aaaa05',NULL,NULL,NULL,NULL,NULL,NULL,'"all"','{}','[]','[]','[]','2026-11-28T07:33:09.348Z','group',NULL);
INSERT INTO "container_configs" VALUES('ag-1790000000000-bbbb05',NULL,NULL,NULL,NULL,NULL,NULL,'"all"','{}','[]','[]','[]','2026-11-28T07:33:09.352Z','group',NULL);
INSERT INTO "messaging_groups" VALUES('mg-1','telegram','telegram:100','telegram','Dana',0,'strict','2026-11-28T07:33:09.353Z',NULL,NULL);
INSERT INTO "pending_approvals" VALUES('appr-1795851189995-0dx006','sess-1795851189538-udvgvs','appr-1795851189995-0dx006','a2a_message_gate','{"id":"msg-b2","platform_id":"ag-1790000000000-aaaa05","content":"{\"text\":\"Tomorrow it is closed.\"}","in_reply_to":"a2a-1795851189907-peec3f"}','2026-11-28T07:33:09.995Z',NULL,NULL,NULL,NULL,NULL,'pending','Message approval','[{"label":"Approve","selectedLabel":"✅ Approved","value":"approve","style":"primary"},{"label":"Reject","selectedLabel":"❌ Rejected","value":"reject","style":"danger"},{"label":"Reject with reason…","selectedLabel":"📝 Rejected (awaiting reason)","value":"reject_with_reason"}]','telegram:100','Agent "Finder" wants to send a message to "Andy":

Tomorrow it is closed.

Approve, Reject, or "Reject with reason…" to decline and then type a short reason I''ll relay to "Finder".','telegram');
INSERT INTO "sessions" VALUES('sess-1795851189371-kl1c10','ag-1790000000000-aaaa05','mg-1',NULL,NULL,'active','stopped','2026-11-28T07:33:09.858Z','2026-11-28T07:33:09.371Z');
INSERT INTO "sessions" VALUES('sess-1795851189538-udvgvs','ag-1790000000000-bbbb05',NULL,NULL,NULL,'active','stopped','2026-11-28T07:33:09.930Z','2026-11-28T07:33:09.538Z');
