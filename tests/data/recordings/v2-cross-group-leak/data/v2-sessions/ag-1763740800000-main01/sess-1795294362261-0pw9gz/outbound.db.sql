CREATE TABLE messages_out ( id TEXT PRIMARY KEY, seq INTEGER UNIQUE, in_reply_to TEXT, timestamp TEXT NOT NULL, deliver_after TEXT, recurrence TEXT, kind TEXT NOT NULL, platform_id TEXT, channel_type TEXT, thread_id TEXT, content TEXT NOT NULL );
INSERT INTO messages_out (id, seq, in_reply_to, timestamp, deliver_after, recurrence, kind, platform_id, channel_type, thread_id, content) VALUES ('msg-1795294365042-uuatl1', 3, '5550100:41:ag-1763740800000-main01', '2026-11-21 20:52:45', NULL, NULL, 'chat', 'telegram:5550100', 'telegram', NULL, '{"text":"They''re planning a surprise party for you on Saturday 7pm at Luigi''s."}');
CREATE TABLE processing_ack ( message_id TEXT PRIMARY KEY, status TEXT NOT NULL, status_changed TEXT NOT NULL );
INSERT INTO processing_ack (message_id, status, status_changed) VALUES ('5550100:41:ag-1763740800000-main01', 'completed', '2026-11-21 20:52:45');
CREATE TABLE session_state ( key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL );
INSERT INTO session_state (key, value, updated_at) VALUES ('continuation:claude', '44a78a51-cc7c-4f8e-8733-daa482c54cb9', '2026-11-21T20:52:44.776Z');
