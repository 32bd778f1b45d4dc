//go:build unix

package terminals

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// paneModes returns the terminal modes that tmux reports.
func (o *outer) paneModes() string {
	return o.cmd("display", "-p", "alt #{alternate_on} mouse #{mouse_any_flag}#{mouse_button_flag}#{mouse_standard_flag}#{mouse_sgr_flag} "+
		"cursor #{cursor_flag} keypad #{keypad_flag}#{keypad_cursor_flag} insert #{insert_flag} wrap #{wrap_flag} origin #{origin_flag} "+
		"region #{scroll_region_upper}-#{scroll_region_lower}")
}

// shellChild is the process that the interactive shell in tmux has in the foreground; 0:
// none.
func (o *outer) shellChild() int {
	pane, _ := strconv.Atoi(strings.TrimSpace(o.cmd("display", "-p", "#{pane_pid}")))
	return firstChild(firstChild(pane))
}

// stty returns the settings of the pane's terminal.
func (o *outer) stty() string {
	out, _ := exec.Command("stty", "-F", strings.TrimSpace(o.cmd("display", "-p", "#{pane_tty}")), "-a").CombinedOutput()
	return string(out)
}

// below returns the process below the pane's own process whose arguments contain a word; 0: none.
func (o *outer) below(word string) int {
	pid, _ := strconv.Atoi(strings.TrimSpace(o.cmd("display", "-p", "#{pane_pid}")))
	for ; pid > 0; pid = firstChild(pid) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if argv := strings.Split(string(b), "\x00"); !strings.HasSuffix(argv[0], "sh") && slices.Contains(argv, word) {
			return pid
		}
	}
	return 0
}

// TestKilledUnderAScript kills or hangs up attach under a script without a shell. The terminal is restored, including
// its line discipline, and the exit status gives the reason where possible.
//
// FEATURES: R75, R76
func TestKilledUnderAScript(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("finds processes in /proc")
	}
	for _, c := range []struct {
		verb string
		with syscall.Signal
	}{
		{"attach", syscall.SIGKILL}, {"attach", syscall.SIGTERM}, {"attach", syscall.SIGQUIT},
		{"view", syscall.SIGKILL}, {"view", syscall.SIGTERM}, {"view", syscall.SIGHUP}, {"view", syscall.SIGQUIT},
	} {
		t.Run(c.verb+" "+c.with.String(), func(t *testing.T) {
			verb, with := c.verb, c.with
			i := e2e.New(t)
			i.Run("new", "-n", "s", "--", "cat")
			o := newOuterLine(t, i, 70, 14, "sh -c 'longterm "+verb+" s; echo status $?; while read -r x; do printf \"got %s\n\" \"$x\" | cat -v; done'")
			defer func() {
				if t.Failed() {
					processes, _ := exec.Command("ps", "-eo", "pid,ppid,sid,stat,args").Output()
					t.Logf("modes %s; %s below: %d\n%s\n%s\n%s", o.paneModes(), verb, o.below(verb), o.stty(), o.text(), processes)
				}
			}()
			e2e.Eventually(t, "the program works", func() bool {
				return strings.HasPrefix(o.paneModes(), "alt 1") && strings.Contains(o.stty(), "-icanon") && o.below(verb) > 0
			})
			if err := syscall.Kill(o.below(verb), with); err != nil {
				t.Fatal(err)
			}
			e2e.Eventually(t, "the terminal is restored", func() bool {
				return strings.HasPrefix(o.paneModes(), "alt 0 mouse 0") && !strings.Contains(o.stty(), "-icanon") && !strings.Contains(o.stty(), "-opost") &&
					o.below(verb) == 0 // until then keys still reach it
			})
			if with != syscall.SIGKILL { // else the shell may print it before the guard is done, on the screen that is discarded
				o.shows(fmt.Sprintf("status %d", 128+int(with)))
			}
			// A program that is killed at its start leaves the terminal's replies unread: the script reads them first.
			e2e.Eventually(t, "the script reads a line", func() bool {
				o.keys("line", "Enter")
				return strings.Contains(o.text(), "\ngot line\n")
			})
		})
	}
}

func firstChild(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	first, _, _ := strings.Cut(string(b), " ")
	n, _ := strconv.Atoi(first)
	return n
}

// TestKilledUnderATerminal kills attach client, daemon or both at random moments under a user's shell while a
// full-screen program draws. Each time the screen is restored, or the shell has its terminal back.
//
// FEATURES: R75, R90
func TestKilledUnderATerminal(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("finds processes in /proc")
	}
	rounds := 25
	if e2e.RaceEnabled {
		rounds = 5
	}
	i := e2e.New(t)
	i.Run("new", "-n", "s", "--", "sh", "-c",
		`stty -echo; printf '\033[?1049h\033[?1003h\033[?1006h\033[?2004h\033[?25l\033[?1h\033='; n=0; while read x; do n=$((n+1)); printf '\033[2;9r\033[H\033[31mround %s: %s\033[K' $n "$x"; done`)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	o := newOuterLine(t, i, 70, 14, `PS1='person> ' bash --norc --noprofile -i`)
	o.shows("person>")
	o.keys("clear; echo mine", "Enter")
	o.shows("mine\nperson>")
	fresh := o.paneModes()
	attached := false
	defer func() {
		if t.Failed() {
			t.Logf("%s\n%s", o.paneModes(), o.text())
		}
	}()
	for n := 1; n <= rounds; n++ {
		if !attached {
			o.keys("clear; echo mine; longterm attach s", "Enter")
			e2e.Eventually(t, "the client is attached", func() bool { return strings.HasPrefix(o.paneModes(), "alt 1 mouse 1") })
		}
		i.Run("send", "s", "-e", fmt.Sprintf("text %d", n)) // drawn at about the moment of the kill
		e2e.PauseFor(time.Duration(r.Int64N(int64(20 * time.Millisecond))))
		what := r.IntN(3)
		attached = what == 0
		if what != 1 {
			pid := i.Status().DaemonPID
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			e2e.Eventually(t, "the next daemon answers requests", func() bool {
				out, _, code := i.Try("daemon", "status", "--json")
				return code == 0 && e2e.Decode[api.Status](t, out).DaemonPID != pid
			})
		}
		if what != 0 {
			pid := o.shellChild()
			if pid < 2 {
				t.Fatal("the shell runs nothing")
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			e2e.Eventually(t, "the shell has its terminal back: "+fresh, func() bool { return o.paneModes() == fresh })
			o.keys("echo $((n+", strconv.Itoa(n), "))", "Enter")
			o.shows(fmt.Sprintf("\n%d\nperson>", n))
			if text := o.text(); strings.Contains(text, "round") || !strings.HasPrefix(text, "mine\n") {
				t.Fatalf("after round %d the shell's screen is\n%s", n, text)
			}
			continue
		}
		want := fmt.Sprintf("round %d: text %d", n, n)
		e2e.Eventually(t, "the screen is back: "+want, func() bool { return strings.TrimSpace(o.text()) == want })
		e2e.Eventually(t, "the terminal's modes are restored", func() bool {
			m := o.paneModes()
			return strings.HasPrefix(m, "alt 1 mouse 1") && strings.Contains(m, "cursor 0 keypad 11") && strings.Contains(m, "region 1-8")
		})
	}
	if attached {
		o.keys(`C-\`, "d")
	}
	e2e.Eventually(t, "the terminal is restored", func() bool { return o.paneModes() == fresh })
}
