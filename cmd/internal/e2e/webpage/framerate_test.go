//go:build chaos && linux

package webpage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// stamped prints lines as fast as they are read, each with its time in ms.
const stamped = `
import sys, time
n = 0
while True:
    n += 1
    sys.stdout.write("\033[3%dm%d\033[m line %d of a flood that goes on and on %s\r\n" % (n % 8, int(time.time() * 1000), n, "x" * (n % 120)))
`

// pieced prints lines of nine pieces in different styles, each line with its time too.
const pieced = `
import sys, time
looks = ["31", "1;32", "33", "2", "1;34", "35", "36;44", "90", "97"]
n = 0
while True:
    n += 1
    sys.stdout.write(str(int(time.time() * 1000)) + "".join(" \033[%sm%s %d\033[m" % (looks[(n + i) % 9], "abcdefghijklmnopq"[: (n + 3 * i) % 17], n + i) for i in range(9)) + "\r\n")
`

// paced changes each row of 200×60 sixty times a second, a quarter of them at a time, each in as many pieces as its
// argument requests and with its time: no more than a screen can show, so that its writer leaves the processors to the
// page.
const paced = `
import sys, time
looks = ["31", "", "1;34", "32", "2", "33", "36;44", "90", "97"]
pieces = int(sys.argv[1])
n, due = 0, time.monotonic()
while True:
    rows = []
    for _ in range(15):
        n += 1
        width = 187 // pieces
        rows.append(str(int(time.time() * 1000)) + "".join("\033[%sm%s\033[m" % (looks[(n + i) % 9], (" piece %d of row %d of what a build says " % (i, n) * 9)[:width]) for i in range(pieces)))
    sys.stdout.write("\r\n" + "\r\n".join(rows))
    sys.stdout.flush()
    due = max(due + 1 / 240, time.monotonic() - 1 / 60)
    time.sleep(max(0, due - time.monotonic()))
`

// TestFrameRate reports what a browser draws of a flood at 200×60 in five seconds: frames, frames with changes, their
// durations, and the age of the newest line. It has no limit, because the result depends on the machine.
func TestFrameRate(t *testing.T) {
	tier.Full(t)
	python := tier.Path(t, "python3")
	for name, program := range map[string][]string{
		"two pieces a row": {stamped}, "nine pieces a row": {pieced},
		"60 a second of three pieces a row": {paced, "3"}, "60 a second of nine pieces a row": {paced, "9"},
	} {
		t.Run(name, func(t *testing.T) { frameRate(t, append([]string{python, "-c"}, program...)) })
	}
}

func frameRate(t *testing.T, program []string) {
	b := browser.New(t)
	i := e2e.New(t)
	i.Run(append([]string{"new", "-n", "flood", "--cols", "200", "--rows", "60", "--"}, program...)...)
	p := open(i, b, browser.Desk)
	show(i, p, "flood")
	p.Wait("the flood", `longterm.page.term.screen.rows.length === 60 && longterm.page.term.frames > 10`)
	before, daemon := pageTime(), took(i.Status().DaemonPID, "stat")
	var got struct{ Seconds, Frames, Drawn, Bytes, Mean, P99, Old, OldP99 float64 }
	p.Eval(`new Promise((done) => {
		const { term } = longterm.page, link = longterm.link, heard = link.ws.onmessage, took = [], old = [];
		let frames = 0, bytes = 0;
		const from = performance.now(), drawn = term.frames, was = term.to.drawn;
		link.ws.onmessage = (e) => { bytes += e.data.length; heard(e); };
		term.to.drawn = (x) => {
			was?.(x);
			const stamp = Math.max(...term.text().map((l) => +/^\d{13}/.exec(l)?.[0] || 0));
			old.push(Date.now() - stamp);
			took.push(term.took ?? 0);
		};
		const at = (all, q) => all.sort((a, b) => a - b)[Math.floor((all.length - 1) * q)] ?? -1;
		const frame = () => {
			frames++;
			if (performance.now() - from < 5000) return requestAnimationFrame(frame);
			link.ws.onmessage = heard;
			term.to.drawn = was;
			done({ Seconds: (performance.now() - from) / 1000, Frames: frames, Drawn: term.frames - drawn, Bytes: bytes,
				Mean: took.reduce((a, b) => a + b, 0) / took.length, P99: at(took, 0.99), Old: at(old, 0.5), OldP99: at(old, 0.99) });
		};
		requestAnimationFrame(frame);
	})`, &got)
	t.Logf("%.1f frames a second, %.1f of them of something new; drawing took %.1f ms on average, 99 %% at most %.1f; the newest line drawn was %.0f ms old, 99 %% at most %.0f; %.0f KB a second",
		got.Frames/got.Seconds, got.Drawn/got.Seconds, got.Mean, got.P99, got.Old, got.OldP99, got.Bytes/got.Seconds/1000)
	t.Logf("processor time of the page's thread for each frame of something new: %.1f ms; of the daemon %.0f ms a second", float64((pageTime()-before).Microseconds())/1000/got.Drawn,
		float64((took(i.Status().DaemonPID, "stat")-daemon).Milliseconds())/got.Seconds)
}

// pageTime returns the processor time of the main threads of all pages of our browser, which run scripts and lay out.
// Other programs do not affect it, however busy the machine is.
func pageTime() (sum time.Duration) {
	parent, pages := map[int]int{}, map[int]time.Duration{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		f := stat(pid, "stat")
		parent[pid], _ = strconv.Atoi(f[1])
		if cmd, _ := os.ReadFile(filepath.Join(dir, "cmdline")); bytes.Contains(cmd, []byte("--type=renderer")) {
			pages[pid] = took(pid, "task/"+filepath.Base(dir)+"/stat")
		}
	}
	for pid, took := range pages {
		up := pid
		for up > 1 && up != os.Getpid() {
			up = parent[up]
		}
		if up == os.Getpid() {
			sum += took
		}
	}
	return sum
}

// stat returns the fields of a process's or thread's stat file, from its state on; at least 13.
func stat(pid int, file string) []string {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file)) // it may have ended
	return append(strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])), make([]string, 13)...)
}

// took is the processor time of a process, or of a thread of it.
func took(pid int, file string) time.Duration {
	f := stat(pid, file)
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond // in ticks of 100 a second
}

// TestDrawingCost reports the drawing cost of frames of 60 new rows of nine pieces, as elements and on the canvas. The
// same rows are drawn alternately, without the socket.
func TestDrawingCost(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "still", "--cols", "200", "--rows", "60", "--", "cat")
	p := open(i, b, browser.Desk)
	show(i, p, "still")
	p.Wait("rest", `!longterm.page.term.due`)
	p.Eval(`void (globalThis.draws = (still, n) => new Promise((done) => {
		const { grid, screen, follow } = longterm.page.term, looks = [{ f: '#ff8700' }, { fi: 2, f: '#00cd00', a: 1 }, { a: 2 }, { f: '#8080ff', b: '#202020' }];
		performance.now = () => 1; // a flood on a busy machine, too
		let at = 0;
		const frame = () => {
			screen.rows = screen.rows.map((_, y) => {
				let col = 0, text = '';
				const spans = Array.from({ length: 9 }, (_, i) => {
					const s = { st: looks[(at + y + i) % 4], text: 'piece ' + (at * 60 + y * 7 + i) % 1000 + ' '.repeat(i), col };
					col += s.n = s.text.length;
					text += s.text;
					return s;
				});
				return { flags: 0, spans, cols: col, text: text.trimEnd() };
			});
			grid.draw(screen, still);
			longterm.page.term.follow();
			if (++at < n) requestAnimationFrame(frame); else done(!!grid.canvas);
		};
		frame();
	}))`, nil)
	for range 2 {
		for _, still := range []bool{true, false} {
			var canvas bool
			before := pageTime()
			p.Eval(fmt.Sprintf(`draws(%t, 100)`, still), &canvas)
			if canvas == still {
				t.Errorf("canvas: %t", canvas)
			}
			t.Logf("canvas %t: %.1f ms of processor time a frame", canvas, float64((pageTime()-before).Milliseconds())/100)
		}
	}
}
