// A session's records as a recording, asciicast 2.

// cast makes the file's lines of the daemon's records, one JSON object a line.
export function cast(records, title) {
  const out = [], decoder = new TextDecoder();
  let began, time = 0;
  const tell = (what) => out.push(JSON.stringify(what) + '\n');
  const text = ({ data }, more) => decoder.decode(Uint8Array.from(atob(data), (c) => c.charCodeAt()), more);
  for (const line of records.split('\n')) {
    if (!line) continue;
    const r = JSON.parse(line);
    const at = Date.parse(r.time);
    if (at) time = Math.max(time, (at - (began ??= at)) / 1000);
    if (r.kind === 'screen') {
      tell({ version: 2, width: r.cols, height: r.rows, title, ...at && { timestamp: Math.floor(at / 1000) } });
      if (r.data) tell([0, 'o', text(r)]);
    } else if (r.kind === 'output' && r.data) tell([time, 'o', text(r, { stream: true })]);
    else if (r.kind === 'resize') tell([time, 'r', r.cols + 'x' + r.rows]);
  }
  return out;
}
