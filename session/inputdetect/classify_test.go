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

	limited = &sys.Modes{Signals: true, Limit: 300 * time.Millisecond}
)

func reading(program string) Result {
	return Result{State: Reading, Source: FromCall, PID: 1, TID: 1, Program: program, Timeout: -1, Why: "blocked reading the terminal"}
}

func polling(program string, timeout time.Duration) Result {
	return Result{State: Polling, Source: FromCall, PID: 1, Program: program, Timeout: timeout}
}

func sleeping(program string) Result {
	return Result{State: Sleeping, Source: FromCall, PID: 1, Program: program, Timeout: -1, Why: "waits for something else"}
}

func running(program string) Result {
	return Result{State: Busy, Source: FromCall, PID: 1, Program: program, Timeout: -1, Why: "runs"}
}

func unseen(program string, idle bool) Result {
	return Result{State: Unknown, Source: FromSched, PID: 1, Program: program, Timeout: -1, Idle: idle}
}

// own is a relay that reads for itself.
func own(program string) Result { r := reading(program); r.TID = r.PID; return r }

// aside is a wait of a thread that is not the first one.
func aside(r Result, a BackgroundActivity) Result { r.TID, r.Aside = r.PID+1, a; return r }

func script(r Result) Result { r.Script = true; return r }

// before is a relay with programs behind it, all with the same terminal settings.
func before(relay string, inner Result, m *sys.Modes, more ...Result) Result {
	r := polling(relay, -1)
	for _, b := range append([]Result{inner}, more...) {
		r.Behind = append(r.Behind, RelayedTTY{b, m})
	}
	return r
}

// rows makes the facts of a screen: the cursor is at the end of the last row.
func rows(text string, f Facts) Facts {
	lines := strings.Split(text, "\n")
	f.Line, f.Above = lines[len(lines)-1], lines[:len(lines)-1]
	if f.Quiet == 0 {
		f.Quiet = 5 * time.Second
	}
	return f
}

// FAULT: E1, E2, E4, E5, E7
// FEATURES: R40, R42, R88
func TestClassify(t *testing.T) {
	const ms = time.Millisecond
	hour := Result{State: Polling, Source: FromCall, Program: "bash", Timeout: time.Hour}
	channel := func(r Result) Result { r.Source = FromChannel; return r }
	cases := []struct {
		name string
		text string
		f    Facts
		want Kind // None: nothing is needed
	}{
		// Secrets.
		{"rm -i of a long path", "rm: remove regular file '/home/ann/" + strings.Repeat("deep/", 40) + "a'? ", Facts{Probe: reading("rm")}, Confirm},
		{"getpass", "Password: ", Facts{Probe: reading("python3"), Modes: noecho}, Password},
		{"sudo, which may not be examined", "[sudo] password for ann: ", Facts{Probe: unseen("sudo", true), Modes: noecho}, Password},
		{"sudo, first look", "[sudo] password for ann: ", Facts{Probe: unseen("sudo", false), Modes: noecho, Quiet: 400 * ms}, Password},
		{"sudo in German", "[sudo] Passwort für ann: ", Facts{Probe: unseen("sudo", true), Modes: noecho}, Password},
		{"ssh passphrase", "Enter passphrase for key '/home/ann/.ssh/id_ed25519': ", Facts{Probe: reading("ssh"), Modes: noecho}, Password},
		{"ssh password", "ann@example.org's password: ", Facts{Probe: reading("ssh"), Modes: noecho}, Password},
		{"one-time code, hidden", "Verification code: ", Facts{Probe: reading("ssh"), Modes: noecho}, Password},
		{"git over https", "Password for 'https://ann@example.org': ", Facts{Probe: reading("git-remote-http"), Modes: noecho}, Password},
		{"no text at all, no echo", "", Facts{Probe: reading("bash"), Modes: noecho}, Password},
		{"unusual text, no echo", "Say friend and enter ", Facts{Probe: reading("gate"), Modes: noecho}, Password},
		{"raw mode with stars", "? Enter your npm password: ******", Facts{Probe: polling("node", -1), Modes: raw}, Password},
		{"PIN in raw mode", "Enter PIN: ", Facts{Probe: reading("ykman"), Modes: raw}, Password},
		{"read -p without -s", "Password: ", Facts{Probe: reading("bash"), Modes: cooked}, Password},
		{"Russian", "Пароль: ", Facts{Probe: reading("su"), Modes: noecho}, Password},
		{"Japanese", "パスワード：", Facts{Probe: reading("login"), Modes: noecho}, Password},
		{"pinentry on the whole screen", "Please unlock the card\n  Passphrase: ***", Facts{Probe: polling("pinentry-curses", -1), Modes: raw, AltScreen: true}, Password},
		{"password by wait channel", "Password: ", Facts{Probe: channel(reading("su")), Modes: noecho}, Password},
		{"root's program asks", "Do it? [y/N] ", Facts{Probe: unseen("sudo", true), Modes: raw}, Confirm},
		{"no kernel evidence", "Password: ", Facts{Modes: noecho}, Password},

		// Waits with a limit.
		{"read -t 0.1 in a loop, at first", "Name: ", Facts{Probe: polling("bash", 100*ms), Modes: cooked, Quiet: 60 * ms}, None},
		{"and again", "Name: ", Facts{Probe: polling("bash", 100*ms), Modes: cooked, Quiet: 400 * ms}, Text},
		{"a reply is waited for", "Password: ", Facts{Probe: reading("dd"), Modes: limited, Quiet: 60 * ms}, None},
		{"hidden", "Password: ", Facts{Probe: polling("bash", 100*ms), Modes: noecho, Quiet: 60 * ms}, None},
		{"keys, looked for again and again", "Continue? [y/N] ", Facts{Probe: reading("installer"), Modes: limited, Quiet: 900 * ms}, Confirm},
		{"full screen with a clock", "12:00", Facts{Probe: polling("htop", 500*ms), Modes: raw, AltScreen: true, Quiet: 60 * ms}, Screen},

		// Yes or no.
		{"apt", "After this operation, 12 MB will be used.\nDo you want to continue? [Y/n] ", Facts{Probe: reading("apt"), Modes: cooked}, Confirm},
		{"dnf", "Is this ok [y/N]: ", Facts{Probe: reading("dnf"), Modes: cooked}, Confirm},
		{"ssh host key", "Are you sure you want to continue connecting (yes/no/[fingerprint])? ", Facts{Probe: reading("ssh"), Modes: cooked}, Confirm},
		{"rm -i", "rm: remove regular file 'a.txt'? ", Facts{Probe: reading("rm"), Modes: cooked}, Confirm},
		{"cp -i", "cp: overwrite 'b.txt'? ", Facts{Probe: reading("cp"), Modes: cooked}, Confirm},
		{"git add -p", "(1/3) Stage this hunk [y,n,q,a,d,j,J,g,/,s,e,?]? ", Facts{Probe: reading("git"), Modes: cooked}, Confirm},
		{"unzip", "replace a.txt? [y]es, [n]o, [A]ll, [N]one, [r]ename: ", Facts{Probe: reading("unzip"), Modes: cooked}, Confirm},
		{"npx", "Need to install the following packages:\n  create-app\nOk to proceed? (y) ", Facts{Probe: polling("node", -1), Modes: raw}, Confirm},
		{"terraform", "  Only 'yes' will be accepted to approve.\n\n  Enter a value: ", Facts{Probe: reading("terraform"), Modes: cooked}, Confirm},
		{"press any key", "Press any key to continue . . . ", Facts{Probe: reading("bash"), Modes: raw}, Confirm},
		{"press enter, newline after", "Press ENTER to continue\n", Facts{Probe: reading("java"), Modes: cooked}, Confirm},
		{"question with its own line", "Overwrite existing file? (y/n)\n", Facts{Probe: reading("ffmpeg"), Modes: cooked}, Confirm},
		{"more", "line 23\n--More--(45%)", Facts{Probe: reading("more"), Modes: raw}, Confirm},
		{"German", "Möchten Sie fortfahren? [J/n] ", Facts{Probe: reading("apt"), Modes: cooked}, Confirm},
		{"half typed", "Continue? [y/N] y", Facts{Probe: reading("sh"), Modes: cooked}, Confirm},
		{"silence only", "Proceed? [y/N] ", Facts{}, Confirm},
		{"idle foreign program", "Proceed (y/n)? ", Facts{Probe: unseen("visudo", true), Modes: cooked}, Confirm},
		{"over ssh", "Reboot now? [y/N] ", Facts{Probe: polling("ssh", -1), Modes: raw}, Confirm},
		{"gdb's question", "Quit anyway? (y or n) ", Facts{Probe: reading("gdb"), Modes: cooked}, Confirm},
		{"gdb's default", "Make breakpoint pending on future shared library load? (y or [n]) ", Facts{Probe: reading("gdb"), Modes: cooked}, Confirm},
		{"poetry", "Would you like to define your main dependencies interactively? (yes/no) [yes] ", Facts{Probe: reading("python3"), Modes: cooked}, Confirm},

		// Choices.
		{"select", "1) red\n2) green\n#? ", Facts{Probe: reading("bash"), Modes: cooked}, Menu},
		{"numbered list", "  1. Default\n  2. Custom\n  3. Quit\n\nEnter your choice: ", Facts{Probe: reading("setup"), Modes: cooked}, Menu},
		{"bracketed numbers", "[1] alpha\n[2] beta\n> ", Facts{Probe: reading("python3"), Modes: cooked}, Menu},
		{"inquirer", "? Which framework? (Use arrow keys)\n❯ React\n  Vue\n  Svelte", Facts{Probe: polling("node", -1), Modes: raw}, Menu},
		{"older inquirer", "? Which framework?\n> React\n  Vue", Facts{Probe: polling("python3", -1), Modes: raw}, Menu},
		{"check boxes", "? Features\n ◉ TypeScript\n ◯ Router\n ◯ Tests", Facts{Probe: polling("node", -1), Modes: raw}, Menu},
		{"clack", "◆  Pick a project type\n│  ● TypeScript\n│  ○ JavaScript\n└", Facts{Probe: polling("node", -1), Modes: raw}, Menu},
		{"gum choose", "Choose:\n❯ one\n  two", Facts{Probe: polling("gum", -1), Modes: raw}, Menu},

		// Text.
		{"cat", "", Facts{Probe: reading("cat"), Modes: cooked}, Text},
		{"read -p", "Name: ", Facts{Probe: reading("bash"), Modes: cooked}, Text},
		{"read -t", "Name: ", Facts{Probe: hour, Modes: cooked}, Text},
		{"which version", "Which version do you want to install? ", Facts{Probe: reading("setup"), Modes: cooked}, Text},
		{"where to", "Where should we install it? (~/bin) ", Facts{Probe: polling("node", -1), Modes: raw}, Text},
		{"name of a key", "Type the key's name: ", Facts{Probe: reading("gpg"), Modes: cooked}, Text},
		{"just printed", "Name: ", Facts{Probe: reading("bash"), Modes: cooked, Quiet: ms}, Text},
		{"git user name", "Username for 'https://example.org': ", Facts{Probe: reading("git-remote-http"), Modes: cooked}, Text},
		{"python", ">>> ", Facts{Probe: polling("python3", -1), Modes: raw}, Text},
		{"python goes on", ">>> if x:\n... ", Facts{Probe: polling("python3", -1), Modes: raw}, Text},
		{"node", "> ", Facts{Probe: polling("node", -1), Modes: raw}, Text},
		{"gdb", "(gdb) ", Facts{Probe: polling("gdb", -1), Modes: raw, BracketedPaste: true}, Text},
		{"psql", "shop=# ", Facts{Probe: polling("psql", -1), Modes: raw, BracketedPaste: true}, Text},
		{"ipython", "In [1]: ", Facts{Probe: polling("ipython", -1), Modes: raw}, Text},
		{"npm init", "package name: (demo) ", Facts{Probe: polling("node", -1), Modes: raw}, Text},
		{"counted question", "Item 2/3: ", Facts{Probe: reading("python3"), Modes: cooked}, Text},
		{"silence after a prompt", "Name: ", Facts{Modes: cooked}, Text},
		{"read by wait channel", "Name: ", Facts{Probe: channel(reading("bash")), Modes: cooked}, Text},
		{"poll by wait channel", "mysql> ", Facts{Probe: channel(polling("mysql", -1)), Modes: raw}, Text},

		// Whole screens.
		{"vim", "~\n~\n", Facts{Probe: polling("vim", -1), Modes: raw, AltScreen: true}, Screen},
		{"less", ":", Facts{Probe: reading("less"), Modes: raw, AltScreen: true}, Screen},
		{"less on the main screen", "foo\n(END)", Facts{Probe: reading("less"), Modes: raw}, Screen},
		{"htop", "Mem[|||| 45%]\n", Facts{Probe: polling("htop", 1500*ms), Modes: raw, AltScreen: true, Quiet: 200 * ms}, Screen},
		{"fzf in part of the screen", "> qu", Facts{Probe: polling("fzf", -1), Modes: raw, Mouse: true}, Screen},

		// A shell's prompt.
		{"marks", "ann@here:~$ ", Facts{Probe: polling("bash", -1), Modes: raw, Shell: ShellPrompt}, Prompt},
		{"background output", "building: 30%\nPassword: ", Facts{Probe: polling("bash", -1), Modes: raw, Shell: ShellPrompt}, Prompt},
		{"bash without marks", "ann@here:~$ ", Facts{Probe: polling("bash", -1), Modes: raw, BracketedPaste: true}, Prompt},
		{"zsh without marks", "here% ", Facts{Probe: reading("zsh"), Modes: raw}, Prompt},
		{"fish without marks", "ann@here ~> ", Facts{Probe: polling("fish", -1), Modes: raw}, Prompt},
		{"dash without marks", "# ", Facts{Probe: reading("dash"), Modes: cooked}, Prompt},
		{"remote shell", "ann@far:~$ ", Facts{Probe: polling("ssh", -1), Modes: raw}, Prompt},
		{"shell in a shell", "$ ", Facts{Probe: reading("dash"), Modes: cooked, Shell: ShellRunning}, Prompt},
		{"shell in a shell with an editor", "ann@here:~$ ", Facts{Probe: polling("bash", -1), Modes: raw, Shell: ShellRunning, Leader: 7}, Prompt},
		{"the shell itself, with a new prompt", "new> ", Facts{Probe: reading("dash"), Modes: cooked, Shell: ShellRunning, Leader: 1, NewPrompt: true}, Prompt},
		{"command being typed", "ann@here:~$ rm -i x", Facts{Probe: polling("bash", -1), Modes: raw, BracketedPaste: true}, Prompt},

		// Relays.
		{"ssh's own question", "Are you sure you want to continue connecting (yes/no/[fingerprint])? ", Facts{Probe: own("ssh"), Modes: cooked}, Confirm},
		{"ssh's own password", "ann@far's password: ", Facts{Probe: own("ssh"), Modes: noecho, Quiet: 20 * ms}, Password},
		{"forged behind ssh", "Password: ", Facts{Probe: polling("ssh", -1), Modes: raw, Quiet: 2500 * ms}, None},
		{"announced behind ssh", "Copying (1 of 3)... ", Facts{Probe: polling("ssh", -1), Modes: raw, Quiet: time.Minute}, None},
		{"behind ssh, for long", "Password: ", Facts{Probe: polling("ssh", -1), Modes: raw, Quiet: 3 * time.Second}, Password},
		{"behind ssh, answered", "Password: ", Facts{Probe: polling("ssh", -1), Modes: raw, Answered: true}, None},
		{"behind root's sudo", "Password: ", Facts{Probe: unseen("sudo", true), Modes: raw, Quiet: 2500 * ms}, None},
		{"behind script, read", "Password: ", Facts{Probe: before("script", reading("sh"), cooked), Modes: raw, Quiet: 20 * ms}, Password},
		{"behind script, asleep", "Password: ", Facts{Probe: before("script", sleeping("sleep"), noecho), Modes: raw}, None},
		{"behind a spawning program, asleep", "Name: ", Facts{Probe: before("python3", sleeping("sleep"), cooked), Modes: raw}, None},
		{"behind a spawning program, hidden", "Name: ", Facts{Probe: before("python3", reading("sh"), noecho), Modes: raw}, Password},
		{"shell behind ssh", "ann@far:~$ ", Facts{Probe: before("ssh", polling("bash", -1), raw), Modes: raw, BracketedPaste: true}, Prompt},
		{"tmux, its program asleep", "Password: \n\n[0] 0:sh*", Facts{Probe: before("tmux: client", sleeping("sleep"), cooked), Modes: raw, AltScreen: true}, None},
		{"two panes, one asks", "Password: ", Facts{Probe: before("tmux: client", sleeping("sleep"), cooked, reading("sh")), Modes: raw, AltScreen: true}, Password},
		{"two panes, one reads", "done. ", Facts{Probe: before("tmux: client", sleeping("sleep"), cooked, reading("cat")), Modes: raw, AltScreen: true}, None},

		// Threads that wait for keys all the time.
		{"parked, and nothing", "42\n", Facts{Probe: aside(reading("python3"), Working), Modes: cooked}, None},
		{"parked, forged", "Password: ", Facts{Probe: aside(reading("python3"), Working), Modes: noecho, Quiet: time.Minute}, None},
		{"parked in a loop, forged", "Password: ", Facts{Probe: aside(reading("python3"), Elsewhere), Modes: cooked, Quiet: 2500 * ms}, None},
		{"asked in a thread", "Name: ", Facts{Probe: aside(reading("python3"), Elsewhere), Modes: cooked, Quiet: 6 * time.Second}, Text},
		{"asked in the only thread that matters", "Name: ", Facts{Probe: aside(reading("java"), Nothing), Modes: cooked, Quiet: 50 * ms}, Text},
		{"a thread reads, silent for a moment", "listening\n", Facts{Probe: aside(reading("java"), Nothing), Modes: cooked, Quiet: 300 * ms}, None},
		{"others print", "line 7\n", Facts{Probe: aside(reading("java"), Nothing), Modes: cooked, Quiet: 2 * time.Second, Beside: true}, None},

		// What stands at the cursor, not above.
		{"REPL below a list", "1. a\n2. b\n>>> ", Facts{Probe: polling("python3", -1), Modes: raw}, Text},
		{"zsh's select", "1) red    2) green\n?# ", Facts{Probe: reading("zsh"), Modes: cooked}, Menu},
		{"fish's read", "read> ", Facts{Probe: reading("fish"), Modes: raw, Shell: ShellRunning, Leader: 7}, Text},
		{"script of a shell with a prompt-like question", "$ ", Facts{Probe: script(reading("dash")), Modes: cooked, Shell: ShellRunning}, Text},

		// Nothing.
		{"sleep", "", Facts{Probe: sleeping("sleep"), Modes: cooked}, None},
		{"forged password prompt", "Password: ", Facts{Probe: sleeping("sleep"), Modes: cooked}, None},
		{"forged, without echo", "Password: ", Facts{Probe: sleeping("sleep"), Modes: noecho}, None},
		{"forged confirmation", "Continue? [y/N] ", Facts{Probe: running("sh"), Modes: cooked}, None},
		{"compiler", "", Facts{Probe: running("cc1plus"), Modes: cooked}, None},
		{"make waits for children", "gcc -c a.c\n", Facts{Probe: sleeping("make"), Modes: cooked}, None},
		{"spinner", "⠹ Installing dependencies", Facts{Probe: polling("node", 80*ms), Modes: raw, Quiet: 50 * ms}, None},
		{"spinner of a program that takes keys", "⠹ Installing dependencies", Facts{Probe: polling("app", -1), Modes: raw, Quiet: 50 * ms}, None},
		{"progress over ssh", "model.bin  45%  123MB  10.1MB/s  00:12 ETA", Facts{Probe: polling("ssh", -1), Modes: raw, Quiet: 300 * ms}, None},
		{"silent build over ssh", "", Facts{Probe: polling("ssh", -1), Modes: raw, Quiet: time.Minute}, None},
		{"announced work over ssh", "Building...", Facts{Probe: polling("ssh", -1), Modes: raw, Quiet: time.Minute}, None},
		{"container's output", "listening on 8080\n", Facts{Probe: reading("docker"), Modes: raw, Quiet: time.Minute}, None},
		{"development server", "  press h to show help\n  Local: http://localhost:5173/\n", Facts{Probe: polling("node", -1), Modes: cooked, Quiet: time.Minute}, None},
		{"encoder that listens for q", "frame= 123 fps= 30 size= 1024kB time=00:01", Facts{Probe: polling("ffmpeg", 0), Modes: raw, Quiet: 10 * ms}, None},
		{"silence in the middle of output", "checking for gcc... ", Facts{Modes: cooked, Quiet: 500 * ms}, None},
		{"silence shorter than usual", "Step: ", Facts{Modes: cooked, Quiet: 2 * time.Second, Rhythm: 5 * time.Second}, None},
		{"silence after a line", "done\n", Facts{Modes: cooked, Quiet: time.Minute}, None},
		{"percent, no kernel evidence", "Fetching 45%", Facts{Modes: cooked, Quiet: time.Minute}, None},
		{"asleep by wait channel", "Password: ", Facts{Probe: channel(sleeping("sh")), Modes: cooked}, None},
		{"root's program works", "", Facts{Probe: unseen("sudo", true), Modes: cooked, Quiet: time.Minute}, None},
		{"percent of a reader", "copying 45%", Facts{Probe: reading("docker"), Modes: raw}, None},
		{"nothing known at all", "", Facts{}, None},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := Classify(rows(c.text, c.f))
			needs := c.want != None && c.want != Prompt
			if v.Kind != c.want || v.Needs != needs {
				t.Errorf("want %q: %+v", c.want, v)
			}
			if v.Reason == "" || strings.Contains(v.Reason, "; ;") || v.Needs != (v.Confidence >= needed) {
				t.Errorf("%+v", v)
			}
		})
	}
	t.Log(len(cases), "cases")
}

// FEATURES: R42
func TestRhythm(t *testing.T) {
	var r Rhythm
	at := time.Unix(0, 0)
	if r.Usual() != 0 {
		t.Error("it knows something from the start")
	}
	for _, gap := range []time.Duration{0, 2, 5, 3} {
		at = at.Add(gap * time.Second)
		r.Output(at)
	}
	if u := r.Usual(); u < 4*time.Second || u > 5*time.Second {
		t.Errorf("%v", u)
	}
	for range 60 {
		at = at.Add(time.Millisecond)
		r.Output(at)
	}
	if u := r.Usual(); u > 10*time.Millisecond {
		t.Errorf("a long gap is remembered for ever: %v", u)
	}
	r.Restart()
	if r.Usual() != 0 {
		t.Error("it remembers the command before")
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("? Which\n❯ a\n  b", uint8(2), uint8(3), uint8(1))
	f.Add("1) a\n2) b\n#? ", uint8(1), uint8(3), uint8(0))
	f.Add("Continue? [y/N] ", uint8(0), uint8(0), uint8(7))
	f.Add("\xff\xfe  12.  \n[\n> ", uint8(1), uint8(1), uint8(5))
	f.Fuzz(func(t *testing.T, text string, state, source, flags uint8) {
		facts := rows(text, Facts{
			Probe:     Result{State: State(state % 6), Source: Source(source % 5), Program: "p", Timeout: -1},
			AltScreen: flags&1 != 0, BracketedPaste: flags&2 != 0, Mouse: flags&4 != 0,
		})
		if flags&8 != 0 {
			facts.Modes = &sys.Modes{Echo: flags&16 != 0, Canonical: flags&32 != 0}
		}
		v := Classify(facts)
		if v.Needs && (v.Kind == None || v.Kind == Prompt) || v.Confidence < 0 || v.Confidence > 99 {
			t.Errorf("%+v", v)
		}
		if s := facts.Probe.State; v.Needs && (s == Busy || s == Sleeping) {
			t.Errorf("text outweighs the kernel: %+v", v)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	f := rows(strings.Repeat("some output of a build, nothing special\n", 20)+"? Which framework?\n❯ React\n  Vue", Facts{Probe: polling("node", -1), Modes: raw})
	b.ReportAllocs()
	for b.Loop() {
		Classify(f)
	}
}

// Every shell that can be followed is known as one here.
func TestShellsAreKnownEverywhere(t *testing.T) {
	for _, k := range shell.Kinds() {
		for _, name := range shell.Names(k) {
			if !shells[name] {
				t.Errorf("%s is missing", name)
			}
		}
	}
}

// What a program asks is told in its own words: the end of them, where it says what may be answered.
//
// FEATURES: R42
func TestWordsOfQuestion(t *testing.T) {
	long := strings.Repeat("é", 150)
	for _, c := range []struct{ text, want string }{
		{"Do you want to continue? [Y/n] ", `: "Do you want to continue? [Y/n]"`},
		{"Password for bob: ", `: "Password for bob:"`},
		{"Name: ", `: "Name:"`},
		{"Press Enter to go on\n", `: "Press Enter to go on"`},
		{long + " go on? [y/N] ", `: "…` + long[len(long)-maxWords+len(" go on? [y/N]")+1:] + ` go on? [y/N]"`},
		{">>> ", "reads lines from the terminal; the line ends like a prompt"},
		{"", "reads lines from the terminal"},
	} {
		v := Classify(rows(c.text, Facts{Probe: reading("app"), Modes: cooked}))
		if !v.Needs || !strings.HasSuffix(v.Reason, c.want) {
			t.Errorf("%q: %+v", c.text, v)
		}
	}
	for _, text := range []string{
		"hunter22 " + strings.Repeat("x", maxWords-17) + " go on? [y/N] ", // what is told begins in the middle of it
		"hunter22 " + strings.Repeat("x", maxLineBytes-17) + " go on? [y/N] ",
		"hunter22 " + strings.Repeat("x", maxWords-17) + " go on? [y/N]\n",
	} {
		whole := ""
		v := Classify(rows(text, Facts{Probe: reading("app"), Modes: cooked, Shown: func(line string) string {
			whole = line
			return strings.ReplaceAll(line, "hunter22", "********")
		}}))
		if !v.Needs || !strings.HasPrefix(whole, "hunter22 ") || strings.Contains(v.Reason, "22") || !strings.HasSuffix(v.Reason, `go on? [y/N]"`) {
			t.Errorf("of %q: %+v", whole, v)
		}
	}
	if v := Classify(rows("Do you want to continue? [Y/n] ", Facts{Probe: running("app"), Modes: cooked})); strings.Contains(v.Reason, "continue") {
		t.Errorf("%+v", v)
	}
}

// BenchmarkClassifyTyped is the line of somebody who types: it is looked at after each key.
func BenchmarkClassifyTyped(b *testing.B) {
	f := rows(strings.Repeat("some output of a build, nothing special\n", 20)+"bob@host:~/src/project$ git log --oneline --graph --decorate main..feature/x", Facts{Probe: polling("node", -1), Modes: raw})
	b.ReportAllocs()
	for b.Loop() {
		Classify(f)
	}
}
