// Puts the memory that a session began with into the transcript of what was said before (argv[2]): a session that goes on
// is not given it anew. The checkout's own code makes it: its scaffold, and its hook for the beginning of a session (argv[3..]).
import fs from 'node:fs';
const [file, ...places] = process.argv.slice(2);
const named = async (name) => {
  for (const place of places) {
    const found = (await import(place))[name];
    if (found) return found;
  }
};
const [scaffold, hook] = [await named('ensureMemoryScaffold'), await named('MEMORY_SESSION_HOOK')];
if (hook) {
  scaffold?.();
  const ran = Bun.spawnSync(hook.command.split(' '), { stdin: Buffer.from(JSON.stringify({ source: 'startup' })) });
  const content = ran.stdout.toString().trimEnd();
  const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
  const { sessionId, timestamp, version, cwd } = lines[0];
  const uuid = '0be40e00-0000-4000-8000-00000000ffff';
  const attachment = {
    type: 'hook_success', hookName: 'SessionStart:startup', hookEvent: 'SessionStart', toolUseID: uuid, content,
    stdout: content, stderr: '', exitCode: 0, command: hook.command,
  };
  const common = { isSidechain: false, userType: 'external', cwd, sessionId, version, timestamp };
  lines.unshift({ parentUuid: null, type: 'attachment', attachment, uuid, ...common });
  lines[1].parentUuid = uuid;
  fs.writeFileSync(file, lines.map((line) => JSON.stringify(line) + '\n').join(''));
}
