package inputdetect

import (
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
)

var (
	cooked = &sys.Modes{Echo: true, Canonical: true, Signals: true}
	noecho = &sys.Modes{Canonical: true, Signals: true}
	raw    = &sys.Modes{Signals: true}

	limited = &sys.Modes{Signals: true, ReadTimeout: 300 * time.Millisecond}
)

// resultReading is the result of a program that reads the terminal.
func resultReading(program string) Result {
	return Result{State: Reading, Source: FromSyscall, PID: 1, TID: 1, Program: program, Timeout: -1, Reason: "blocked reading the terminal"}
}

// resultPolling is the result of a program that waits for the terminal, among others.
func resultPolling(program string, timeout time.Duration) Result {
	return Result{State: Polling, Source: FromSyscall, PID: 1, Program: program, Timeout: timeout}
}

// resultSleeping is the result of a program that waits for other events.
func resultSleeping(program string) Result {
	return Result{State: Sleeping, Source: FromSyscall, PID: 1, Program: program, Timeout: -1, Reason: "waits for something else"}
}

// resultRunning is the result of a program that runs.
func resultRunning(program string) Result {
	return Result{State: Busy, Source: FromSyscall, PID: 1, Program: program, Timeout: -1, Reason: "runs"}
}

// resultUnknown is the result of another user's program.
func resultUnknown(program string, idle bool) Result {
	return Result{State: Unknown, Source: FromSched, PID: 1, Program: program, Timeout: -1, Idle: idle}
}

// ownRead is a relay that reads for itself.
func ownRead(program string) Result { r := resultReading(program); r.TID = r.PID; return r }

// otherThread makes a result that of a thread other than the first.
func otherThread(r Result, a BackgroundActivity) Result { r.TID, r.Background = r.PID+1, a; return r }

// inScript marks a result as that of a script.
func inScript(r Result) Result { r.RunsScript = true; return r }

// relayOf is a relay with programs behind it, all with the same terminal settings.
func relayOf(relay string, inner Result, m *sys.Modes, more ...Result) Result {
	r := resultPolling(relay, -1)
	for _, b := range append([]Result{inner}, more...) {
		r.Relayed = append(r.Relayed, RelayedTTY{b, m})
	}
	return r
}

// screenFacts returns facts with the rows of a screen: the cursor is at the end of the last row.
func screenFacts(text string, f Evidence) Evidence {
	lines := strings.Split(text, "\n")
	f.Line, f.Above = lines[len(lines)-1], lines[:len(lines)-1]
	if f.Silence == 0 {
		f.Silence = 5 * time.Second
	}
	return f
}

// FAULT: E1, E2, E4, E5, E7
// FEATURES: R40, R42, R88
func TestClassify(t *testing.T) {
	const ms = time.Millisecond
	hour := Result{State: Polling, Source: FromSyscall, Program: "bash", Timeout: time.Hour}
	channel := func(r Result) Result { r.Source = FromWchan; return r }
	cases := []struct {
		name string
		text string
		f    Evidence
		want Kind // None: no input needed
	}{
		// Secrets.
		{"rm -i of a long path", "rm: remove regular file '/home/ann/" + strings.Repeat("deep/", 40) + "a'? ", Evidence{Probe: resultReading("rm")}, Confirm},
		{"getpass", "Password: ", Evidence{Probe: resultReading("python3"), Modes: noecho}, Password},
		{"sudo, which may not be examined", "[sudo] password for ann: ", Evidence{Probe: resultUnknown("sudo", true), Modes: noecho}, Password},
		{"sudo, first look", "[sudo] password for ann: ", Evidence{Probe: resultUnknown("sudo", false), Modes: noecho, Silence: 400 * ms}, Password},
		{"sudo in German", "[sudo] Passwort für ann: ", Evidence{Probe: resultUnknown("sudo", true), Modes: noecho}, Password},
		{"ssh passphrase", "Enter passphrase for key '/home/ann/.ssh/id_ed25519': ", Evidence{Probe: resultReading("ssh"), Modes: noecho}, Password},
		{"ssh password", "ann@example.org's password: ", Evidence{Probe: resultReading("ssh"), Modes: noecho}, Password},
		{"one-time code, hidden", "Verification code: ", Evidence{Probe: resultReading("ssh"), Modes: noecho}, Password},
		{"git over https", "Password for 'https://ann@example.org': ", Evidence{Probe: resultReading("git-remote-http"), Modes: noecho}, Password},
		{"no text at all, no echo", "", Evidence{Probe: resultReading("bash"), Modes: noecho}, Password},
		{"unusual text, no echo", "Say friend and enter ", Evidence{Probe: resultReading("gate"), Modes: noecho}, Password},
		{"raw mode with stars", "? Enter your npm password: ******", Evidence{Probe: resultPolling("node", -1), Modes: raw}, Password},
		{"PIN in raw mode", "Enter PIN: ", Evidence{Probe: resultReading("ykman"), Modes: raw}, Password},
		{"read -p without -s", "Password: ", Evidence{Probe: resultReading("bash"), Modes: cooked}, Password},
		{"Russian", "Пароль: ", Evidence{Probe: resultReading("su"), Modes: noecho}, Password},
		{"Japanese", "パスワード：", Evidence{Probe: resultReading("login"), Modes: noecho}, Password},
		{"pinentry on the whole screen", "Please unlock the card\n  Passphrase: ***", Evidence{Probe: resultPolling("pinentry-curses", -1), Modes: raw, AltScreen: true}, Password},
		{"password by wait channel", "Password: ", Evidence{Probe: channel(resultReading("su")), Modes: noecho}, Password},
		{"root's program asks", "Do it? [y/N] ", Evidence{Probe: resultUnknown("sudo", true), Modes: raw}, Confirm},
		{"no kernel evidence", "Password: ", Evidence{Modes: noecho}, Password},

		// Waits with a limit.
		{"read -t 0.1 in a loop, at first", "Name: ", Evidence{Probe: resultPolling("bash", 100*ms), Modes: cooked, Silence: 60 * ms}, None},
		{"and again", "Name: ", Evidence{Probe: resultPolling("bash", 100*ms), Modes: cooked, Silence: 400 * ms}, Text},
		{"a reply is waited for", "Password: ", Evidence{Probe: resultReading("dd"), Modes: limited, Silence: 60 * ms}, None},
		{"hidden", "Password: ", Evidence{Probe: resultPolling("bash", 100*ms), Modes: noecho, Silence: 60 * ms}, None},
		{"keys, looked for again and again", "Continue? [y/N] ", Evidence{Probe: resultReading("installer"), Modes: limited, Silence: 900 * ms}, Confirm},
		{"full screen with a clock", "12:00", Evidence{Probe: resultPolling("htop", 500*ms), Modes: raw, AltScreen: true, Silence: 60 * ms}, Screen},

		// Yes or no.
		{"apt", "After this operation, 12 MB will be used.\nDo you want to continue? [Y/n] ", Evidence{Probe: resultReading("apt"), Modes: cooked}, Confirm},
		{"dnf", "Is this ok [y/N]: ", Evidence{Probe: resultReading("dnf"), Modes: cooked}, Confirm},
		{"ssh host key", "Are you sure you want to continue connecting (yes/no/[fingerprint])? ", Evidence{Probe: resultReading("ssh"), Modes: cooked}, Confirm},
		{"rm -i", "rm: remove regular file 'a.txt'? ", Evidence{Probe: resultReading("rm"), Modes: cooked}, Confirm},
		{"cp -i", "cp: overwrite 'b.txt'? ", Evidence{Probe: resultReading("cp"), Modes: cooked}, Confirm},
		{"git add -p", "(1/3) Stage this hunk [y,n,q,a,d,j,J,g,/,s,e,?]? ", Evidence{Probe: resultReading("git"), Modes: cooked}, Confirm},
		{"unzip", "replace a.txt? [y]es, [n]o, [A]ll, [N]one, [r]ename: ", Evidence{Probe: resultReading("unzip"), Modes: cooked}, Confirm},
		{"npx", "Need to install the following packages:\n  create-app\nOk to proceed? (y) ", Evidence{Probe: resultPolling("node", -1), Modes: raw}, Confirm},
		{"terraform", "  Only 'yes' will be accepted to approve.\n\n  Enter a value: ", Evidence{Probe: resultReading("terraform"), Modes: cooked}, Confirm},
		{"press any key", "Press any key to continue . . . ", Evidence{Probe: resultReading("bash"), Modes: raw}, Confirm},
		{"press enter, newline after", "Press ENTER to continue\n", Evidence{Probe: resultReading("java"), Modes: cooked}, Confirm},
		{"question with its own line", "Overwrite existing file? (y/n)\n", Evidence{Probe: resultReading("ffmpeg"), Modes: cooked}, Confirm},
		{"more", "line 23\n--More--(45%)", Evidence{Probe: resultReading("more"), Modes: raw}, Confirm},
		{"German", "Möchten Sie fortfahren? [J/n] ", Evidence{Probe: resultReading("apt"), Modes: cooked}, Confirm},
		{"half typed", "Continue? [y/N] y", Evidence{Probe: resultReading("sh"), Modes: cooked}, Confirm},
		{"silence only", "Proceed? [y/N] ", Evidence{}, Confirm},
		{"idle foreign program", "Proceed (y/n)? ", Evidence{Probe: resultUnknown("visudo", true), Modes: cooked}, Confirm},
		{"over ssh", "Reboot now? [y/N] ", Evidence{Probe: resultPolling("ssh", -1), Modes: raw}, Confirm},
		{"gdb's question", "Quit anyway? (y or n) ", Evidence{Probe: resultReading("gdb"), Modes: cooked}, Confirm},
		{"gdb's default", "Make breakpoint pending on future shared library load? (y or [n]) ", Evidence{Probe: resultReading("gdb"), Modes: cooked}, Confirm},
		{"poetry", "Would you like to define your main dependencies interactively? (yes/no) [yes] ", Evidence{Probe: resultReading("python3"), Modes: cooked}, Confirm},

		// Choices.
		{"select", "1) red\n2) green\n#? ", Evidence{Probe: resultReading("bash"), Modes: cooked}, Menu},
		{"numbered list", "  1. Default\n  2. Custom\n  3. Quit\n\nEnter your choice: ", Evidence{Probe: resultReading("setup"), Modes: cooked}, Menu},
		{"bracketed numbers", "[1] alpha\n[2] beta\n> ", Evidence{Probe: resultReading("python3"), Modes: cooked}, Menu},
		{"inquirer", "? Which framework? (Use arrow keys)\n❯ React\n  Vue\n  Svelte", Evidence{Probe: resultPolling("node", -1), Modes: raw}, Menu},
		{"older inquirer", "? Which framework?\n> React\n  Vue", Evidence{Probe: resultPolling("python3", -1), Modes: raw}, Menu},
		{"check boxes", "? Features\n ◉ TypeScript\n ◯ Router\n ◯ Tests", Evidence{Probe: resultPolling("node", -1), Modes: raw}, Menu},
		{"clack", "◆  Pick a project type\n│  ● TypeScript\n│  ○ JavaScript\n└", Evidence{Probe: resultPolling("node", -1), Modes: raw}, Menu},
		{"gum choose", "Choose:\n❯ one\n  two", Evidence{Probe: resultPolling("gum", -1), Modes: raw}, Menu},

		// Text.
		{"cat", "", Evidence{Probe: resultReading("cat"), Modes: cooked}, Text},
		{"read -p", "Name: ", Evidence{Probe: resultReading("bash"), Modes: cooked}, Text},
		{"read -t", "Name: ", Evidence{Probe: hour, Modes: cooked}, Text},
		{"which version", "Which version do you want to install? ", Evidence{Probe: resultReading("setup"), Modes: cooked}, Text},
		{"where to", "Where should we install it? (~/bin) ", Evidence{Probe: resultPolling("node", -1), Modes: raw}, Text},
		{"name of a key", "Type the key's name: ", Evidence{Probe: resultReading("gpg"), Modes: cooked}, Text},
		{"just printed", "Name: ", Evidence{Probe: resultReading("bash"), Modes: cooked, Silence: ms}, Text},
		{"git user name", "Username for 'https://example.org': ", Evidence{Probe: resultReading("git-remote-http"), Modes: cooked}, Text},
		{"python", ">>> ", Evidence{Probe: resultPolling("python3", -1), Modes: raw}, Text},
		{"python goes on", ">>> if x:\n... ", Evidence{Probe: resultPolling("python3", -1), Modes: raw}, Text},
		{"node", "> ", Evidence{Probe: resultPolling("node", -1), Modes: raw}, Text},
		{"gdb", "(gdb) ", Evidence{Probe: resultPolling("gdb", -1), Modes: raw, BracketedPaste: true}, Text},
		{"psql", "shop=# ", Evidence{Probe: resultPolling("psql", -1), Modes: raw, BracketedPaste: true}, Text},
		{"ipython", "In [1]: ", Evidence{Probe: resultPolling("ipython", -1), Modes: raw}, Text},
		{"npm init", "package name: (demo) ", Evidence{Probe: resultPolling("node", -1), Modes: raw}, Text},
		{"counted question", "Item 2/3: ", Evidence{Probe: resultReading("python3"), Modes: cooked}, Text},
		{"silence after a prompt", "Name: ", Evidence{Modes: cooked}, Text},
		{"read by wait channel", "Name: ", Evidence{Probe: channel(resultReading("bash")), Modes: cooked}, Text},
		{"poll by wait channel", "mysql> ", Evidence{Probe: channel(resultPolling("mysql", -1)), Modes: raw}, Text},

		// Whole screens.
		{"vim", "~\n~\n", Evidence{Probe: resultPolling("vim", -1), Modes: raw, AltScreen: true}, Screen},
		{"less", ":", Evidence{Probe: resultReading("less"), Modes: raw, AltScreen: true}, Screen},
		{"less on the main screen", "foo\n(END)", Evidence{Probe: resultReading("less"), Modes: raw}, Screen},
		{"htop", "Mem[|||| 45%]\n", Evidence{Probe: resultPolling("htop", 1500*ms), Modes: raw, AltScreen: true, Silence: 200 * ms}, Screen},
		{"fzf in part of the screen", "> qu", Evidence{Probe: resultPolling("fzf", -1), Modes: raw, Mouse: true}, Screen},

		// A shell's prompt.
		{"marks", "ann@here:~$ ", Evidence{Probe: resultPolling("bash", -1), Modes: raw, Shell: ShellPrompt}, Prompt},
		{"background output", "building: 30%\nPassword: ", Evidence{Probe: resultPolling("bash", -1), Modes: raw, Shell: ShellPrompt}, Prompt},
		{"bash without marks", "ann@here:~$ ", Evidence{Probe: resultPolling("bash", -1), Modes: raw, BracketedPaste: true}, Prompt},
		{"zsh without marks", "here% ", Evidence{Probe: resultReading("zsh"), Modes: raw}, Prompt},
		{"fish without marks", "ann@here ~> ", Evidence{Probe: resultPolling("fish", -1), Modes: raw}, Prompt},
		{"dash without marks", "# ", Evidence{Probe: resultReading("dash"), Modes: cooked}, Prompt},
		{"remote shell", "ann@far:~$ ", Evidence{Probe: resultPolling("ssh", -1), Modes: raw}, Prompt},
		{"shell in a shell", "$ ", Evidence{Probe: resultReading("dash"), Modes: cooked, Shell: ShellRunning}, Prompt},
		{"shell in a shell with an editor", "ann@here:~$ ", Evidence{Probe: resultPolling("bash", -1), Modes: raw, Shell: ShellRunning, Leader: 7}, Prompt},
		{"the shell itself, with a new prompt", "new> ", Evidence{Probe: resultReading("dash"), Modes: cooked, Shell: ShellRunning, Leader: 1, HasNewPrompt: true}, Prompt},
		{"command being typed", "ann@here:~$ rm -i x", Evidence{Probe: resultPolling("bash", -1), Modes: raw, BracketedPaste: true}, Prompt},

		// Relays.
		{"ssh's own question", "Are you sure you want to continue connecting (yes/no/[fingerprint])? ", Evidence{Probe: ownRead("ssh"), Modes: cooked}, Confirm},
		{"ssh's own password", "ann@far's password: ", Evidence{Probe: ownRead("ssh"), Modes: noecho, Silence: 20 * ms}, Password},
		{"forged behind ssh", "Password: ", Evidence{Probe: resultPolling("ssh", -1), Modes: raw, Silence: 2500 * ms}, None},
		{"announced behind ssh", "Copying (1 of 3)... ", Evidence{Probe: resultPolling("ssh", -1), Modes: raw, Silence: time.Minute}, None},
		{"behind ssh, for long", "Password: ", Evidence{Probe: resultPolling("ssh", -1), Modes: raw, Silence: 3 * time.Second}, Password},
		{"behind ssh, answered", "Password: ", Evidence{Probe: resultPolling("ssh", -1), Modes: raw, Answered: true}, None},
		{"behind root's sudo", "Password: ", Evidence{Probe: resultUnknown("sudo", true), Modes: raw, Silence: 2500 * ms}, None},
		{"behind script, read", "Password: ", Evidence{Probe: relayOf("script", resultReading("sh"), cooked), Modes: raw, Silence: 20 * ms}, Password},
		{"behind script, asleep", "Password: ", Evidence{Probe: relayOf("script", resultSleeping("sleep"), noecho), Modes: raw}, None},
		{"behind a spawning program, asleep", "Name: ", Evidence{Probe: relayOf("python3", resultSleeping("sleep"), cooked), Modes: raw}, None},
		{"behind a spawning program, hidden", "Name: ", Evidence{Probe: relayOf("python3", resultReading("sh"), noecho), Modes: raw}, Password},
		{"shell behind ssh", "ann@far:~$ ", Evidence{Probe: relayOf("ssh", resultPolling("bash", -1), raw), Modes: raw, BracketedPaste: true}, Prompt},
		{"tmux, its program asleep", "Password: \n\n[0] 0:sh*", Evidence{Probe: relayOf("tmux: client", resultSleeping("sleep"), cooked), Modes: raw, AltScreen: true}, None},
		{"two panes, one asks", "Password: ", Evidence{Probe: relayOf("tmux: client", resultSleeping("sleep"), cooked, resultReading("sh")), Modes: raw, AltScreen: true}, Password},
		{"two panes, one reads", "done. ", Evidence{Probe: relayOf("tmux: client", resultSleeping("sleep"), cooked, resultReading("cat")), Modes: raw, AltScreen: true}, None},

		// Threads that wait for keys all the time.
		{"parked, and nothing", "42\n", Evidence{Probe: otherThread(resultReading("python3"), BackgroundWorking), Modes: cooked}, None},
		{"parked, forged", "Password: ", Evidence{Probe: otherThread(resultReading("python3"), BackgroundWorking), Modes: noecho, Silence: time.Minute}, None},
		{"parked in a loop, forged", "Password: ", Evidence{Probe: otherThread(resultReading("python3"), BackgroundWaiting), Modes: cooked, Silence: 2500 * ms}, None},
		{"asked in a thread", "Name: ", Evidence{Probe: otherThread(resultReading("python3"), BackgroundWaiting), Modes: cooked, Silence: 6 * time.Second}, Text},
		{"asked in the only thread that matters", "Name: ", Evidence{Probe: otherThread(resultReading("java"), BackgroundNone), Modes: cooked, Silence: 50 * ms}, Text},
		{"a thread reads, silent for a moment", "listening\n", Evidence{Probe: otherThread(resultReading("java"), BackgroundNone), Modes: cooked, Silence: 300 * ms}, None},
		{"others print", "line 7\n", Evidence{Probe: otherThread(resultReading("java"), BackgroundNone), Modes: cooked, Silence: 2 * time.Second, PrintedByOther: true}, None},

		// The text at the cursor counts, not the text above.
		{"REPL below a list", "1. a\n2. b\n>>> ", Evidence{Probe: resultPolling("python3", -1), Modes: raw}, Text},
		{"zsh's select", "1) red    2) green\n?# ", Evidence{Probe: resultReading("zsh"), Modes: cooked}, Menu},
		{"fish's read", "read> ", Evidence{Probe: resultReading("fish"), Modes: raw, Shell: ShellRunning, Leader: 7}, Text},
		{"script of a shell with a prompt-like question", "$ ", Evidence{Probe: inScript(resultReading("dash")), Modes: cooked, Shell: ShellRunning}, Text},

		// Nothing.
		{"sleep", "", Evidence{Probe: resultSleeping("sleep"), Modes: cooked}, None},
		{"forged password prompt", "Password: ", Evidence{Probe: resultSleeping("sleep"), Modes: cooked}, None},
		{"forged, without echo", "Password: ", Evidence{Probe: resultSleeping("sleep"), Modes: noecho}, None},
		{"forged confirmation", "Continue? [y/N] ", Evidence{Probe: resultRunning("sh"), Modes: cooked}, None},
		{"compiler", "", Evidence{Probe: resultRunning("cc1plus"), Modes: cooked}, None},
		{"make waits for children", "gcc -c a.c\n", Evidence{Probe: resultSleeping("make"), Modes: cooked}, None},
		{"spinner", "⠹ Installing dependencies", Evidence{Probe: resultPolling("node", 80*ms), Modes: raw, Silence: 50 * ms}, None},
		{"spinner of a program that takes keys", "⠹ Installing dependencies", Evidence{Probe: resultPolling("app", -1), Modes: raw, Silence: 50 * ms}, None},
		{"progress over ssh", "model.bin  45%  123MB  10.1MB/s  00:12 ETA", Evidence{Probe: resultPolling("ssh", -1), Modes: raw, Silence: 300 * ms}, None},
		{"silent build over ssh", "", Evidence{Probe: resultPolling("ssh", -1), Modes: raw, Silence: time.Minute}, None},
		{"announced work over ssh", "Building...", Evidence{Probe: resultPolling("ssh", -1), Modes: raw, Silence: time.Minute}, None},
		{"container's output", "listening on 8080\n", Evidence{Probe: resultReading("docker"), Modes: raw, Silence: time.Minute}, None},
		{"development server", "  press h to show help\n  Local: http://localhost:5173/\n", Evidence{Probe: resultPolling("node", -1), Modes: cooked, Silence: time.Minute}, None},
		{"encoder that listens for q", "frame= 123 fps= 30 size= 1024kB time=00:01", Evidence{Probe: resultPolling("ffmpeg", 0), Modes: raw, Silence: 10 * ms}, None},
		{"silence in the middle of output", "checking for gcc... ", Evidence{Modes: cooked, Silence: 500 * ms}, None},
		{"silence shorter than usual", "Step: ", Evidence{Modes: cooked, Silence: 2 * time.Second, UsualSilence: 5 * time.Second}, None},
		{"silence after a line", "done\n", Evidence{Modes: cooked, Silence: time.Minute}, None},
		{"percent, no kernel evidence", "Fetching 45%", Evidence{Modes: cooked, Silence: time.Minute}, None},
		{"asleep by wait channel", "Password: ", Evidence{Probe: channel(resultSleeping("sh")), Modes: cooked}, None},
		{"root's program works", "", Evidence{Probe: resultUnknown("sudo", true), Modes: cooked, Silence: time.Minute}, None},
		{"percent of a reader", "copying 45%", Evidence{Probe: resultReading("docker"), Modes: raw}, None},
		{"nothing known at all", "", Evidence{}, None},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := Classify(screenFacts(c.text, c.f))
			needs := c.want != None && c.want != Prompt
			if v.Kind != c.want || v.NeedsInput != needs {
				t.Errorf("got %+v, want %q", v, c.want)
			}
			if v.Reason == "" || strings.Contains(v.Reason, "; ;") || v.NeedsInput != (v.Confidence >= minConfidence) {
				t.Errorf("got verdict %+v", v)
			}
		})
	}
	t.Log(len(cases), "cases")
}

// FEATURES: R42
func TestSilenceTracker(t *testing.T) {
	var r SilenceTracker
	at := time.Unix(0, 0)
	if r.Usual() != 0 {
		t.Error("a new tracker has a usual silence")
	}
	for _, gap := range []time.Duration{0, 2, 5, 3} {
		at = at.Add(gap * time.Second)
		r.Output(at)
	}
	if u := r.Usual(); u < 4*time.Second || u > 5*time.Second {
		t.Errorf("got usual silence %v", u)
	}
	for range 60 {
		at = at.Add(time.Millisecond)
		r.Output(at)
	}
	if u := r.Usual(); u > 10*time.Millisecond {
		t.Errorf("a long gap did not decay: got %v", u)
	}
	r.Reset()
	if r.Usual() != 0 {
		t.Error("Reset kept the usual silence")
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("? Which\n❯ a\n  b", uint8(2), uint8(3), uint8(1))
	f.Add("1) a\n2) b\n#? ", uint8(1), uint8(3), uint8(0))
	f.Add("Continue? [y/N] ", uint8(0), uint8(0), uint8(7))
	f.Add("\xff\xfe  12.  \n[\n> ", uint8(1), uint8(1), uint8(5))
	f.Fuzz(func(t *testing.T, text string, state, source, flags uint8) {
		facts := screenFacts(text, Evidence{
			Probe:     Result{State: State(state % 6), Source: Source(source % 5), Program: "p", Timeout: -1},
			AltScreen: flags&1 != 0, BracketedPaste: flags&2 != 0, Mouse: flags&4 != 0,
		})
		if flags&8 != 0 {
			facts.Modes = &sys.Modes{Echo: flags&16 != 0, Canonical: flags&32 != 0}
		}
		v := Classify(facts)
		if v.NeedsInput && (v.Kind == None || v.Kind == Prompt) || v.Confidence < 0 || v.Confidence > 99 {
			t.Errorf("got verdict %+v", v)
		}
		if s := facts.Probe.State; v.NeedsInput && (s == Busy || s == Sleeping) {
			t.Errorf("text outweighs the kernel: got %+v", v)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	f := screenFacts(strings.Repeat("some output of a build, nothing special\n", 20)+"? Which framework?\n❯ React\n  Vue", Evidence{Probe: resultPolling("node", -1), Modes: raw})
	b.ReportAllocs()
	for b.Loop() {
		Classify(f)
	}
}

// TestShells_IncludeAllIntegrated checks that every shell with integration is in the set of shells.
func TestShells_IncludeAllIntegrated(t *testing.T) {
	for _, k := range shell.Kinds() {
		for _, name := range shell.Executables(k) {
			if !shells[name] {
				t.Errorf("%s is missing", name)
			}
		}
	}
}

// TestPromptText_OfVerdict checks that a verdict quotes the prompt: its end, where the accepted answers are.
// FEATURES: R42
func TestPromptText_OfVerdict(t *testing.T) {
	long := strings.Repeat("é", 150)
	for _, c := range []struct{ text, want string }{
		{"Do you want to continue? [Y/n] ", `: "Do you want to continue? [Y/n]"`},
		{"Password for bob: ", `: "Password for bob:"`},
		{"Name: ", `: "Name:"`},
		{"Press Enter to go on\n", `: "Press Enter to go on"`},
		{long + " go on? [y/N] ", `: "…` + long[len(long)-maxPromptText+len(" go on? [y/N]")+1:] + ` go on? [y/N]"`},
		{">>> ", "reads lines from the terminal; the line ends like a prompt"},
		{"", "reads lines from the terminal"},
	} {
		v := Classify(screenFacts(c.text, Evidence{Probe: resultReading("app"), Modes: cooked}))
		if !v.NeedsInput || !strings.HasSuffix(v.Reason, c.want) {
			t.Errorf("%q: got verdict %+v", c.text, v)
		}
	}
	for _, text := range []string{
		"hunter22 " + strings.Repeat("x", maxPromptText-17) + " go on? [y/N] ", // the quoted part starts in the middle of the secret
		"hunter22 " + strings.Repeat("x", maxLineBytes-17) + " go on? [y/N] ",
		"hunter22 " + strings.Repeat("x", maxPromptText-17) + " go on? [y/N]\n",
	} {
		whole := ""
		v := Classify(screenFacts(text, Evidence{Probe: resultReading("app"), Modes: cooked, Redact: func(line string) string {
			whole = line
			return strings.ReplaceAll(line, "hunter22", "********")
		}}))
		if !v.NeedsInput || !strings.HasPrefix(whole, "hunter22 ") || strings.Contains(v.Reason, "22") || !strings.HasSuffix(v.Reason, `go on? [y/N]"`) {
			t.Errorf("%q: got verdict %+v", whole, v)
		}
	}
	if v := Classify(screenFacts("Do you want to continue? [Y/n] ", Evidence{Probe: resultRunning("app"), Modes: cooked})); strings.Contains(v.Reason, "continue") {
		t.Errorf("got verdict %+v", v)
	}
}

// BenchmarkClassifyTyped classifies a line at which a user types, as after each key.
func BenchmarkClassifyTyped(b *testing.B) {
	f := screenFacts(strings.Repeat("some output of a build, nothing special\n", 20)+"bob@host:~/src/project$ git log --oneline --graph --decorate main..feature/x", Evidence{Probe: resultPolling("node", -1), Modes: raw})
	b.ReportAllocs()
	for b.Loop() {
		Classify(f)
	}
}
