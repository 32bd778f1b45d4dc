package inputdetect

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
)

const spawn = "import pty, sys; pty.spawn(sys.argv[1:])"

// What relays hide is looked at where it is on this machine, through several of them.
//
// FAULT: E4
// FEATURES: R42
func TestBehindRelays(t *testing.T) {
	tier.Full(t)
	work := []string{"sh", "-c", "printf 'Password: '; sleep 1000"}
	asks := []string{"sh", "-c", "printf 'Password: '; read -r x"}
	over := func(before []string, argv []string) []string { return append(append([]string{}, before...), argv...) }
	python := []string{"python3", "-c", spawn}
	for _, c := range []struct {
		name string
		argv []string
		want Kind
	}{
		{"script works", []string{"script", "-qec", "printf 'Password: '; sleep 1000", "/dev/null"}, None},
		{"script asks", []string{"script", "-qec", "printf 'Password: '; read -r x", "/dev/null"}, Password},
		{"spawned, works", over(python, work), None},
		{"spawned, asks", over(python, asks), Password},
		{"spawned twice, works", over(over(python, python), work), None},
		{"spawned twice, asks", over(over(python, python), asks), Password},
		{"hidden line behind script", []string{"script", "-qec", "stty -echo; printf 'Name: '; read -r x", "/dev/null"}, Password},
		{"shell behind script", []string{"script", "-qec", "bash --norc -i", "/dev/null"}, Prompt},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := start(t, true, c.argv...)
			var v Verdict
			var last Result
			term.until("a verdict from behind", func(r Result) bool {
				m, err := sys.ReadModes(int(term.master.Fd()))
				if err != nil || len(r.Behind) == 0 {
					return false
				}
				inner := r
				for len(inner.Behind) > 0 {
					inner = inner.Behind[0].Probe
				}
				f := term.facts(r, &m)
				v, last = Classify(f), r
				if c.want == None {
					return inner.State == Sleeping
				}
				return v.Kind == c.want
			})
			if v.Kind != c.want || v.Needs != (c.want != Prompt && c.want != None) {
				t.Errorf("%+v of %+v", v, last)
			}
		})
	}
}

// A program that left the terminal's session reads the terminal all the same.
//
// FAULT: E10
// FEATURES: R42
func TestProbeWithoutControllingTerminal(t *testing.T) {
	tier.Need(t, "setsid")
	reads := func(argv ...string) {
		t.Helper()
		term := start(t, true, argv...)
		r := term.until("the child reads", func(r Result) bool { return r.State == Reading && r.Program == "sh" })
		t.Cleanup(func() { _ = syscall.Kill(r.PID, syscall.SIGKILL) }) // the end of its terminal would not reach it
	}
	reads("sh", "-c", "setsid -w sh -c 'read -r x'; :")
	if os.Getuid() != 0 {
		t.Skip("needs root: su")
	}
	reads("su", "nobody", "-s", "/bin/sh", "-c", "read x")
}

// FAULT: E2
// FEATURES: R42
func TestBackgroundActivity(t *testing.T) {
	tier.Full(t)
	const threads = "import os, threading, time\nthreading.Thread(target=lambda: os.read(0, 1), daemon=True).start()\n"
	for _, c := range []struct {
		name, program string
		want          BackgroundActivity
	}{
		{"sleeps", threads + "time.sleep(1000)", Working},
		{"waits for a child", threads + "import subprocess; subprocess.run(['sleep', '1000'])", Working},
		{"works", threads + "while True: pass", Working},
		{"looks again and again", threads + "while True: time.sleep(0.01)", Elsewhere},
		{"waits with a limit", threads + "threading.Event().wait(1000)", Elsewhere},
		{"waits for the reader", "import os, threading\nt = threading.Thread(target=lambda: os.read(0, 1))\nt.start()\nt.join()", Nothing},
		{"reads itself", "import os; os.read(0, 1)", Nothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := start(t, true, "python3", "-c", c.program)
			term.until(c.name, func(r Result) bool {
				return r.State == Reading && r.Aside == c.want && (c.want != Nothing || r.Waits >= 0)
			})
		})
	}
}

// What the first thread of a program does while another one reads the terminal follows from probes, whatever the time between
// them is: a loaded machine makes it long.
//
// FAULT: E2
// FEATURES: R42
func TestBackgroundActivity_WhenProbesAreRare(t *testing.T) {
	const ms = time.Millisecond
	type look struct {
		after  time.Duration
		ran    time.Duration // by the other threads since the look before
		wakes  int64         // of the first thread since then
		state  State
		call   string
		sleeps time.Duration
		want   BackgroundActivity
	}
	brief := func(want BackgroundActivity) look {
		return look{10 * ms, 0, 1, Sleeping, "clock_nanosleep", 10 * ms, want}
	}
	slow := func(want BackgroundActivity) look {
		return look{3 * time.Second, 20 * ms, 40, Sleeping, "clock_nanosleep", 10 * ms, want}
	}
	for name, looks := range map[string][]look{
		"a long pause":                {{0, 0, 0, Sleeping, "clock_nanosleep", time.Hour, Working}, {ms, 0, 0, Sleeping, "clock_nanosleep", time.Hour, Working}},
		"its end":                     {{0, 0, 0, Sleeping, "clock_nanosleep", time.Hour, Working}, {ms, 0, 0, Sleeping, "clock_nanosleep", 10 * ms, Working}},
		"brief pauses":                {brief(Working), brief(Working), brief(Working), brief(Working), brief(Elsewhere), brief(Elsewhere)},
		"brief pauses, seldom probed": {slow(Working), slow(Working), slow(Working), slow(Working), slow(Elsewhere), slow(Elsewhere)},
		"no wake between probes":      {brief(Working), {ms, 0, 0, Sleeping, "clock_nanosleep", 9 * ms, Working}},
		"runs":                        {{0, 0, 0, Busy, "", 0, Working}, {ms, ms, 0, Busy, "", 0, Working}},
		"ran until now":               {{0, 0, 0, Sleeping, "futex", 0, Nothing}, {100 * ms, 50 * ms, 1, Sleeping, "futex", 0, Working}, {100 * ms, 0, 0, Sleeping, "futex", 0, Nothing}},
		"a wake is no work":           {{0, 0, 0, Sleeping, "futex", 0, Nothing}, {ms, ms, 1, Sleeping, "futex", 0, Nothing}, {100 * ms, ms, 1, Sleeping, "futex", 0, Nothing}},
		"a child":                     {{0, 0, 0, Sleeping, "wait4", 0, Working}},
		"a limit":                     {{0, 0, 0, Sleeping, timedFutex, 0, Elsewhere}},
	} {
		p, now := Prober{work: &work{}}, asideTime{pid: 1, tid: 2, at: time.Unix(1000, 0)}
		for i, l := range looks {
			next := asideTime{pid: 1, tid: 2, at: now.at.Add(l.after), ns: now.ns + uint64(l.ran), waits: now.waits + l.wakes}
			p.decider = finding{state: l.state, call: l.call, sleeps: l.sleeps}
			now = next
			if got := p.judgeAside(&next); got != l.want {
				t.Errorf("%s, look %d: %v, want %v", name, i, got, l.want)
			}
			p.aside = next
		}
	}
}

// FEATURES: R42
func TestSiblingWorks(t *testing.T) {
	for argv, want := range map[string]BackgroundActivity{
		"cat </dev/tty & sleep 1000":     Elsewhere,
		"sleep 1000 & sh -c 'read x'; :": Elsewhere,
		"sleep 1000 & read x":            Nothing,
		"sh -c 'read x'; :":              Nothing,
	} {
		term := start(t, true, "sh", "-c", argv)
		term.until(argv, func(r Result) bool { return r.State == Reading && r.Aside == want && r.Waits >= 0 })
	}
}

// FEATURES: R42
func TestScripted(t *testing.T) {
	for line, want := range map[string]bool{
		"bash":                        false,
		"-bash":                       false,
		"bash\x00--norc\x00-i":        false,
		"bash\x00--rcfile\x00x\x00-i": false,
		"zsh\x00-f":                   false,
		"sh\x00-c\x00read x":          true,
		"bash\x00-lc\x00read x":       true,
		"bash\x00script.sh":           true,
		"bash\x00-o\x00vi":            false,
		"sh\x00-s\x00a":               false,
		"fish\x00-C\x00true":          false,
		"fish\x00--command\x00true":   true,
		"":                            false,
	} {
		if got := hasCommands([]byte(line + "\x00")); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func FuzzParseBehind(f *testing.F) {
	f.Add([]byte("pos:\t0\nflags:\t02\ntty-index:\t5\n"))
	f.Add([]byte("  0: 0100007F:0016 0100007F:C350 01 00000000:00000000 00:00000000 00000000  0  0 4242 1\n"))
	f.Add([]byte("bash\x00-c\x00x\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, ok := ttyIndex(b); ok && n < 0 {
			t.Error(n)
		}
		for _, c := range parseConnections(b) {
			if c.inode == "" {
				t.Errorf("%+v", c)
			}
		}
		hasCommands(b)
	})
}
