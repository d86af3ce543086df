CREATE TABLE agent_destinations (
        agent_group_id  TEXT NOT NULL REFERENCES agent_groups(id),
        local_name      TEXT NOT NULL,
        target_type     TEXT NOT NULL,
        target_id       TEXT NOT NULL,
        created_at      TEXT NOT NULL,
        PRIMARY KEY (agent_group_id, local_name)
      );
CREATE TABLE agent_groups (
        id               TEXT PRIMARY KEY,
        name             TEXT NOT NULL,
        folder           TEXT NOT NULL UNIQUE,
        agent_provider   TEXT,
        created_at       TEXT NOT NULL
      );
CREATE TABLE agent_message_policies (
        from_agent_group_id TEXT NOT NULL REFERENCES agent_groups(id),
        to_agent_group_id   TEXT NOT NULL REFERENCES agent_groups(id),
        approver            TEXT NOT NULL,
        created_at          TEXT NOT NULL,
        PRIMARY KEY (from_agent_group_id, to_agent_group_id)
      );
CREATE TABLE container_configs (
        agent_group_id        TEXT PRIMARY KEY REFERENCES agent_groups(id) ON DELETE CASCADE,
        provider              TEXT,
        model                 TEXT,
        effort                TEXT,
        image_tag             TEXT,
        assistant_name        TEXT,
        max_messages_per_prompt INTEGER,
        skills                TEXT NOT NULL DEFAULT '"all"',
        mcp_servers           TEXT NOT NULL DEFAULT '{}',
        packages_apt          TEXT NOT NULL DEFAULT '[]',
        packages_npm          TEXT NOT NULL DEFAULT '[]',
        additional_mounts     TEXT NOT NULL DEFAULT '[]',
        updated_at            TEXT NOT NULL
      , cli_scope TEXT NOT NULL DEFAULT 'group', timezone TEXT);
CREATE TABLE "messaging_groups" (
        id                    TEXT PRIMARY KEY,
        channel_type          TEXT NOT NULL,
        platform_id           TEXT NOT NULL,
        instance              TEXT NOT NULL,
        name                  TEXT,
        is_group              INTEGER DEFAULT 0,
        unknown_sender_policy TEXT NOT NULL DEFAULT 'strict',
        created_at            TEXT NOT NULL,
        denied_at             TEXT, detached_at TEXT,
        UNIQUE(channel_type, platform_id, instance)
      );
CREATE TABLE pending_approvals (
        approval_id         TEXT PRIMARY KEY,
        session_id          TEXT REFERENCES sessions(id),
        request_id          TEXT NOT NULL,
        action              TEXT NOT NULL,
        payload             TEXT NOT NULL,
        created_at          TEXT NOT NULL,
        agent_group_id      TEXT REFERENCES agent_groups(id),
        channel_type        TEXT,
        platform_id         TEXT,
        platform_message_id TEXT,
        expires_at          TEXT,
        status              TEXT NOT NULL DEFAULT 'pending',
        title               TEXT NOT NULL DEFAULT '',
        options_json        TEXT NOT NULL DEFAULT '[]'
      , approver_user_id TEXT, question TEXT NOT NULL DEFAULT '', instance TEXT);
CREATE TABLE sessions (
        id                 TEXT PRIMARY KEY,
        agent_group_id     TEXT NOT NULL REFERENCES agent_groups(id),
        messaging_group_id TEXT REFERENCES messaging_groups(id),
        thread_id          TEXT,
        agent_provider     TEXT,
        status             TEXT DEFAULT 'active',
        container_status   TEXT DEFAULT 'stopped',
        last_active        TEXT,
        created_at         TEXT NOT NULL
      );
