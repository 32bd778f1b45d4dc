// A session's records as a recording, asciicast 2.

// cast makes the file's lines of the daemon's records, one JSON object a line.
export function cast(records, title) {
  const out = [], decoder = new TextDecoder();
  let began = null, time = 0;
  const bytes = (data) => Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  for (const line of records.split('\n')) {
    if (!line) continue;
    const r = JSON.parse(line);
    const at = r.time ? new Date(r.time).getTime() : null;
    if (at !== null) began ??= at;
    if (at !== null) time = Math.max(time, (at - began) / 1000);
    if (r.kind === 'screen') {
      const head = { version: 2, width: r.cols, height: r.rows, title, ...(at !== null && { timestamp: Math.floor(at / 1000) }) };
      out.push(JSON.stringify(head) + '\n');
      if (r.data) out.push(JSON.stringify([0, 'o', decoder.decode(bytes(r.data))]) + '\n');
    } else if (r.kind === 'output' && r.data) out.push(JSON.stringify([time, 'o', decoder.decode(bytes(r.data), { stream: true })]) + '\n');
    else if (r.kind === 'resize') out.push(JSON.stringify([time, 'r', r.cols + 'x' + r.rows]) + '\n');
  }
  return out;
}
