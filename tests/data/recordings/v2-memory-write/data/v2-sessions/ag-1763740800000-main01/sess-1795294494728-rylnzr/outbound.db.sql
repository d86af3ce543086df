CREATE TABLE messages_out ( id TEXT PRIMARY KEY, seq INTEGER UNIQUE, in_reply_to TEXT, timestamp TEXT NOT NULL, deliver_after TEXT, recurrence TEXT, kind TEXT NOT NULL, platform_id TEXT, channel_type TEXT, thread_id TEXT, content TEXT NOT NULL );
INSERT INTO messages_out (id, seq, in_reply_to, timestamp, deliver_after, recurrence, kind, platform_id, channel_type, thread_id, content) VALUES ('msg-1795294497877-tlns0q', 3, '5550100:41:ag-1763740800000-main01', '2026-11-21 20:54:57', NULL, NULL, 'chat', 'telegram:5550100', 'telegram', NULL, '{"text":"Got it — 5 bullets from now on."}');
INSERT INTO messages_out (id, seq, in_reply_to, timestamp, deliver_after, recurrence, kind, platform_id, channel_type, thread_id, content) VALUES ('msg-1795294498990-lo0val', 5, '5550100:42:ag-1763740800000-main01', '2026-11-21 20:54:58', NULL, NULL, 'chat', 'telegram:5550100', 'telegram', NULL, '{"text":"Five."}');
CREATE TABLE processing_ack ( message_id TEXT PRIMARY KEY, status TEXT NOT NULL, status_changed TEXT NOT NULL );
INSERT INTO processing_ack (message_id, status, status_changed) VALUES ('5550100:42:ag-1763740800000-main01', 'completed', '2026-11-21 20:54:58');
INSERT INTO processing_ack (message_id, status, status_changed) VALUES ('5550100:41:ag-1763740800000-main01', 'completed', '2026-11-21 20:54:58');
CREATE TABLE session_state ( key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL );
INSERT INTO session_state (key, value, updated_at) VALUES ('continuation:claude', 'd7d29b14-fcba-4c55-8629-3e1b6020128d', '2026-11-21T20:54:58.779Z');
