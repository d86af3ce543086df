CREATE TABLE messages_out ( id TEXT PRIMARY KEY, seq INTEGER UNIQUE, in_reply_to TEXT, timestamp TEXT NOT NULL, deliver_after TEXT, recurrence TEXT, kind TEXT NOT NULL, platform_id TEXT, channel_type TEXT, thread_id TEXT, content TEXT NOT NULL );
INSERT INTO messages_out (id, seq, in_reply_to, timestamp, deliver_after, recurrence, kind, platform_id, channel_type, thread_id, content) VALUES ('msg-1795295060352-s8byww', 3, '5550100:41:ag-1763740800000-main01', '2026-11-21 21:04:20', NULL, NULL, 'chat', 'telegram:5550100', 'telegram', NULL, '{"text":"• 9:00 stand-up\n• 11:30 dentist\n• 18:00 call with Leo"}');
CREATE TABLE processing_ack ( message_id TEXT PRIMARY KEY, status TEXT NOT NULL, status_changed TEXT NOT NULL );
INSERT INTO processing_ack (message_id, status, status_changed) VALUES ('5550100:41:ag-1763740800000-main01', 'completed', '2026-11-21 21:04:20');
CREATE TABLE session_state ( key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL );
INSERT INTO session_state (key, value, updated_at) VALUES ('continuation:claude', '7978020f-5251-4b5a-b1b3-41ab0f2b0dfe', '2026-11-21T21:04:20.147Z');
