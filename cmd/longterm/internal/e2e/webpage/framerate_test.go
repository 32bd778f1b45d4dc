//go:build chaos && linux

package webpage

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e/browser"
)

// stamped prints lines as fast as they are taken, each with the time at which it was printed, in ms.
const stamped = `
import sys, time
n = 0
while True:
    n += 1
    sys.stdout.write("\033[3%dm%d\033[m line %d of a flood that goes on and on %s\r\n" % (n % 8, int(time.time() * 1000), n, "x" * (n % 120)))
`

// What a browser draws of a flood at 200×60 in five seconds is told: its frames, how many of them drew something new, how
// long that took, and how old the newest line was by then. Nothing is judged: it depends on the machine and what else it
// does.
func TestFrameRate(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not there")
	}
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "flood", "--cols", "200", "--rows", "60", "--", python, "-c", stamped)
	p := open(i, b, browser.Desk)
	show(i, p, "flood")
	p.Wait("the flood", `longterm.page.term.screen.rows.length === 60 && longterm.page.term.frames > 10`)
	before := pageTime()
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
	t.Logf("processor time of the page's thread for each frame of something new: %.1f ms", float64((pageTime()-before).Microseconds())/1000/got.Drawn)
}

// pageTime is the processor time that the first threads of all pages of our browser took: those that run scripts and lay
// out. Other programs take nothing of it, however busy the machine is.
func pageTime() (sum time.Duration) {
	parent, pages := map[int]int{}, map[int]time.Duration{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		stat, err := os.ReadFile(filepath.Join(dir, "task", filepath.Base(dir), "stat"))
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if err != nil || len(f) < 13 {
			continue
		}
		parent[pid], _ = strconv.Atoi(f[1])
		if cmd, _ := os.ReadFile(filepath.Join(dir, "cmdline")); bytes.Contains(cmd, []byte("--type=renderer")) {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			pages[pid] = time.Duration(user+system) * 10 * time.Millisecond // in ticks of 100 a second
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
