package inputdetect

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
)

const pythonRelay = "import pty, sys; pty.spawn(sys.argv[1:])"

// TestProbe_RelayedPrograms checks that programs behind relays are probed if they are on this machine, through several
// relays.
// FAULT: E4
// FEATURES: R42
func TestProbe_RelayedPrograms(t *testing.T) {
	tier.Full(t)
	work := []string{"sh", "-c", "printf 'Password: '; sleep 1000"}
	asks := []string{"sh", "-c", "printf 'Password: '; read -r x"}
	over := func(before []string, argv []string) []string { return append(append([]string{}, before...), argv...) }
	python := []string{"python3", "-c", pythonRelay}
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
			term := startTerminal(t, true, c.argv...)
			var v Verdict
			var last Result
			term.waitFor("a verdict from behind", func(r Result) bool {
				m, err := sys.ReadModes(int(term.master.Fd()))
				if err != nil || len(r.Relayed) == 0 {
					return false
				}
				inner := r
				for len(inner.Relayed) > 0 {
					inner = inner.Relayed[0].Probe
				}
				f := term.facts(r, &m)
				v, last = Classify(f), r
				if c.want == None {
					return inner.State == Sleeping
				}
				return v.Kind == c.want
			})
			if v.Kind != c.want || v.NeedsInput != (c.want != Prompt && c.want != None) {
				t.Errorf("got verdict %+v of %+v", v, last)
			}
		})
	}
}

// TestProbe_WithoutControllingTerminal checks that a program that left the terminal's session still reads the terminal.
// FAULT: E10
// FEATURES: R42
func TestProbe_WithoutControllingTerminal(t *testing.T) {
	tier.Need(t, "setsid")
	reads := func(argv ...string) {
		t.Helper()
		term := startTerminal(t, true, argv...)
		r := term.waitFor("the child reads", func(r Result) bool { return r.State == Reading && r.Program == "sh" })
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
		{"sleeps", threads + "time.sleep(1000)", BackgroundWorking},
		{"waits for a child", threads + "import subprocess; subprocess.run(['sleep', '1000'])", BackgroundWorking},
		{"works", threads + "while True: pass", BackgroundWorking},
		{"looks again and again", threads + "while True: time.sleep(0.01)", BackgroundWaiting},
		{"waits with a limit", threads + "threading.Event().wait(1000)", BackgroundWaiting},
		{"waits for the reader", "import os, threading\nt = threading.Thread(target=lambda: os.read(0, 1))\nt.start()\nt.join()", BackgroundNone},
		{"reads itself", "import os; os.read(0, 1)", BackgroundNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := startTerminal(t, true, "python3", "-c", c.program)
			term.waitFor(c.name, func(r Result) bool {
				return r.State == Reading && r.Background == c.want && (c.want != BackgroundNone || r.WaitCount >= 0)
			})
		})
	}
}

// TestBackgroundActivity_WhenProbesAreRare checks that the background activity of the first thread follows from probes,
// whatever the time between them is: a loaded machine makes it long.
// FAULT: E2
// FEATURES: R42
func TestBackgroundActivity_WhenProbesAreRare(t *testing.T) {
	const ms = time.Millisecond
	type look struct {
		after  time.Duration
		ran    time.Duration // by the other threads since the previous probe
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
		"a long pause":                {{0, 0, 0, Sleeping, "clock_nanosleep", time.Hour, BackgroundWorking}, {ms, 0, 0, Sleeping, "clock_nanosleep", time.Hour, BackgroundWorking}},
		"its end":                     {{0, 0, 0, Sleeping, "clock_nanosleep", time.Hour, BackgroundWorking}, {ms, 0, 0, Sleeping, "clock_nanosleep", 10 * ms, BackgroundWorking}},
		"brief pauses":                {brief(BackgroundWorking), brief(BackgroundWorking), brief(BackgroundWorking), brief(BackgroundWorking), brief(BackgroundWaiting), brief(BackgroundWaiting)},
		"brief pauses, seldom probed": {slow(BackgroundWorking), slow(BackgroundWorking), slow(BackgroundWorking), slow(BackgroundWorking), slow(BackgroundWaiting), slow(BackgroundWaiting)},
		"no wake between probes":      {brief(BackgroundWorking), {ms, 0, 0, Sleeping, "clock_nanosleep", 9 * ms, BackgroundWorking}},
		"runs":                        {{0, 0, 0, Busy, "", 0, BackgroundWorking}, {ms, ms, 0, Busy, "", 0, BackgroundWorking}},
		"ran until now":               {{0, 0, 0, Sleeping, "futex", 0, BackgroundNone}, {100 * ms, 50 * ms, 1, Sleeping, "futex", 0, BackgroundWorking}, {100 * ms, 0, 0, Sleeping, "futex", 0, BackgroundNone}},
		"a wake is no work":           {{0, 0, 0, Sleeping, "futex", 0, BackgroundNone}, {ms, ms, 1, Sleeping, "futex", 0, BackgroundNone}, {100 * ms, ms, 1, Sleeping, "futex", 0, BackgroundNone}},
		"a child":                     {{0, 0, 0, Sleeping, "wait4", 0, BackgroundWorking}},
		"a limit":                     {{0, 0, 0, Sleeping, timedFutex, 0, BackgroundWaiting}},
	} {
		p, now := Prober{probeState: &probeState{}}, otherThreadTimes{pid: 1, tid: 2, at: time.Unix(1000, 0)}
		for i, l := range looks {
			next := otherThreadTimes{pid: 1, tid: 2, at: now.at.Add(l.after), ns: now.ns + uint64(l.ran), waits: now.waits + l.wakes}
			p.deciderFirstThread = finding{state: l.state, syscall: l.call, pause: l.sleeps}
			now = next
			if got := p.backgroundActivity(&next); got != l.want {
				t.Errorf("%s, probe %d: got %v, want %v", name, i, got, l.want)
			}
			p.otherThreads = next
		}
	}
}

// FEATURES: R42
func TestProbe_WorkingSibling(t *testing.T) {
	for argv, want := range map[string]BackgroundActivity{
		"cat </dev/tty & sleep 1000":     BackgroundWaiting,
		"sleep 1000 & sh -c 'read x'; :": BackgroundWaiting,
		"sleep 1000 & read x":            BackgroundNone,
		"sh -c 'read x'; :":              BackgroundNone,
	} {
		term := startTerminal(t, true, "sh", "-c", argv)
		term.waitFor(argv, func(r Result) bool { return r.State == Reading && r.Background == want && r.WaitCount >= 0 })
	}
}

// FEATURES: R42
func TestProbe_ScriptOfShell(t *testing.T) {
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
			t.Errorf("%q: got %v", line, got)
		}
	}
}

func FuzzParseRelay(f *testing.F) {
	f.Add([]byte("pos:\t0\nflags:\t02\ntty-index:\t5\n"))
	f.Add([]byte("  0: 0100007F:0016 0100007F:C350 01 00000000:00000000 00:00000000 00000000  0  0 4242 1\n"))
	f.Add([]byte("bash\x00-c\x00x\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, ok := parseTTYIndex(b); ok && n < 0 {
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
