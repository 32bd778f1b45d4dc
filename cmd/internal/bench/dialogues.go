//go:build unix

package bench

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// dialogue is a scripted conversation with a program. Every contender of `bench expect` runs it step by step, each in a
// new directory.
type dialogue struct {
	name  string
	needs []string // required programs
	setup func(dir string) error
	argv  []string
	sized bool // the program must know the terminal's size
	steps []turn
	exit  int           // required exit status
	limit time.Duration // timeout of a step; 0: dialogueTime
}

func (d *dialogue) timeout() time.Duration { return cmp.Or(d.limit, dialogueTime) }

// turn is one step of a dialogue. Exactly one field is set.
type turn struct {
	expect string // literal text to wait for
	regexp string // pattern to wait for, in the syntax that RE2, Python and Tcl share
	send   string // text to send
	secret string // text to send once the terminal's echo is off, by contenders that can detect that
}

// expectText returns a step that waits for text.
func expectText(s string) turn { return turn{expect: s} }

// sendText returns a step that sends text.
func sendText(s string) turn { return turn{send: s} }

// sendLine returns a step that sends text and Enter.
func sendLine(s string) turn   { return turn{send: s + "\r"} }
func sendSecret(s string) turn { return turn{secret: s} }

// stub returns a dialogue with a shell script.
func stub(name, script string, exit int, steps ...turn) dialogue {
	return dialogue{name: name, needs: []string{"sh", "stty"}, argv: []string{"sh", "-c", script}, steps: steps, exit: exit}
}

// programDialogue returns a dialogue with an installed program.
func programDialogue(name, needs string, argv []string, steps ...turn) dialogue {
	return dialogue{name: name, needs: strings.Fields(needs), argv: argv, steps: steps}
}

// with returns d changed by f.
func (d dialogue) with(f func(*dialogue)) dialogue {
	f(&d)
	return d
}

// repeat returns steps n times.
func repeat(n int, steps ...turn) (all []turn) {
	for range n {
		all = append(all, steps...)
	}
	return all
}

// dialogues returns typical dialogues automated with expect.
func dialogues() []dialogue {
	return []dialogue{
		stub("a name", `printf 'Name: '; read -r n; echo "Hello, $n."`, 0,
			expectText("Name: "), sendLine("bob"), expectText("Hello, bob.")),
		stub("login and password", `printf 'login: '; read -r n; stty -echo; printf 'Password: '; read -r p; stty echo; echo
			[ "$p" = hunter2 ] && echo "Welcome, $n"`, 0,
			expectText("login: "), sendLine("bob"), expectText("Password: "), sendSecret("hunter2"), expectText("Welcome, bob")),
		stub("a new password, typed wrong once", `stty -echo; printf 'Current password: '; read -r o; echo
			while :; do printf 'New password: '; read -r a; echo; printf 'Retype new password: '; read -r b; echo
			[ "$a" = "$b" ] && break; echo 'Sorry, passwords do not match.'; done; stty echo; echo 'password updated'`, 0,
			expectText("Current password: "), sendSecret("old"), expectText("New password: "), sendSecret("one"), expectText("Retype new password: "),
			sendSecret("two"), expectText("do not match"), expectText("New password: "), sendSecret("new"), expectText("Retype new password: "),
			sendSecret("new"), expectText("password updated")),
		stub("a host key and a password", `echo "The authenticity of host 'example' can't be established."
			printf 'Are you sure you want to continue connecting (yes/no)? '; read -r a; [ "$a" = yes ] || exit 1
			stty -echo; printf "bob@example's password: "; read -r p; stty echo; echo; [ "$p" = hunter2 ] || exit 1
			while printf 'example$ '; read -r c; do [ "$c" = exit ] && exit 4; echo "ran $c"; done`, 4,
			expectText("(yes/no)? "), sendLine("yes"), expectText("password: "), sendSecret("hunter2"), expectText("example$ "), sendLine("ls"), expectText("ran ls"),
			expectText("example$ "), sendLine("exit")),
		stub("a wrong password, then the right one", `stty -echo; for i in 1 2 3; do printf '[sudo] password for bob: '; read -r p; echo
			[ "$p" = hunter2 ] && { stty echo; echo 'uid=0(root)'; exit 0; }; echo 'Sorry, try again.'; done; exit 1`, 0,
			expectText("password for bob: "), sendSecret("guess"), expectText("try again"), expectText("password for bob: "), sendSecret("hunter2"), expectText("uid=0")),
		stub("yes or no, with a default", `printf 'Do you want to continue? [Y/n] '; read -r a; case $a in n*) echo Abort.; exit 1;; esac; echo 'Setting up'`, 0,
			expectText("continue? [Y/n] "), sendLine(""), expectText("Setting up")),
		stub("the same question five times", `for i in 1 2 3 4 5; do printf 'Overwrite? (y/n) '; read -r a; n="$n$a"; done; echo "answers $n"`, 0,
			append(repeat(5, expectText("Overwrite? (y/n) "), sendLine("y")), expectText("answers yyyyy"))...),
		stub("fifty quick questions", `i=0; while [ $i -lt 50 ]; do printf 'next: '; read -r a; i=$((i+1)); done; echo "that was $i"`, 0,
			append(repeat(50, expectText("next: "), sendLine("x")), expectText("that was 50"))...),
		stub("a question after much output", `i=0; while [ $i -lt 20000 ]; do echo "$i all is well with this line of the log"; i=$((i+1)); done; printf 'Keep? '; read -r a; echo "kept $a"`, 0,
			expectText("Keep? "), sendLine("it"), expectText("kept it")),
		programDialogue("a menu of bash", "bash", []string{"bash", "-c", `PS3='Which? '; select x in red green blue; do echo "You took $x"; [ "$x" = blue ] && break; done`},
			expectText("Which? "), sendLine("1"), expectText("You took red"), expectText("Which? "), sendLine("3"), expectText("You took blue")),
		programDialogue("three commands of bash", "bash", []string{"env", "PS1=ready> ", "bash", "--norc", "--noprofile"},
			expectText("ready> "), sendLine("echo a$((1+1))b"), expectText("a2b"), expectText("ready> "), sendLine("cd /; pwd"), expectText("/"), expectText("ready> "),
			sendLine("false"), expectText("ready> "), sendLine("exit 5")).with(func(d *dialogue) { d.exit = 5 }),
		programDialogue("five sums in Python", "python3", []string{"env", "PYTHON_BASIC_REPL=1", python(), "-q"},
			append(repeat(5, expectText(">>> "), sendLine("print('su' + 'm', 6*7)"), expectText("sum 42")), expectText(">>> "), sendLine("exit(3)"))...).
			with(func(d *dialogue) { d.exit = 3 }),
		programDialogue("a password in Python", "python3", []string{python(), "-c", "import getpass; p = getpass.getpass(); print('right' if p == 'hunter2' else 'wrong')"},
			expectText("Password: "), sendSecret("hunter2"), expectText("right")),
		programDialogue("hunks to commit", "git", []string{"git", "add", "-p"},
			turn{regexp: `Stage this hunk \[[^]]*\]\? `}, sendLine("y"), turn{regexp: `Stage this hunk \[[^]]*\]\? `}, sendLine("n")).with(func(d *dialogue) { d.setup = twoHunks }),
		programDialogue("a rebase in vim", "git vim", []string{"git", "-c", "core.editor=vim -u NONE -N", "rebase", "-i", "HEAD~2"},
			expectText("git-rebase-todo"), sendText(":s/pick/drop/\r"), sendText(":wq\r"), expectText("Successfully rebased")).
			with(func(d *dialogue) { d.setup, d.sized = threeCommits, true }),
		programDialogue("a partition", "fdisk", []string{"fdisk", "disk.img"},
			expectText("(m for help): "), sendLine("o"), expectText("(m for help): "), sendLine("n"), expectText("(default p): "), sendLine("p"), expectText("(1-4, default 1): "), sendLine(""),
			turn{regexp: `First sector .*: `}, sendLine(""), turn{regexp: `Last sector.*: `}, sendLine("+1M"), expectText("(m for help): "), sendLine("w"), expectText("altered")).
			with(func(d *dialogue) { d.setup = emptyDisk }),
		programDialogue("a certificate request", "openssl", []string{"openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", "k.pem", "-out", "r.pem"},
			expectText("pass phrase:"), sendSecret("hunter2"), expectText("Verifying"), sendSecret("hunter2"), expectText("Country Name"), sendLine("GB"), expectText("State or Province"), sendLine(""),
			expectText("Locality"), sendLine("Here"), expectText("Organization Name"), sendLine(""), expectText("Unit Name"), sendLine(""), expectText("Common Name"), sendLine("example"),
			expectText("Email"), sendLine(""), expectText("challenge password"), sendLine(""), expectText("optional company"), sendLine("")),
		programDialogue("a key with a passphrase", "ssh-keygen", []string{"ssh-keygen", "-t", "ed25519", "-f", "key"},
			expectText("empty for no passphrase): "), sendSecret("hunter2"), expectText("same passphrase again: "), sendSecret("hunter2"), expectText("fingerprint")),
		programDialogue("a file encrypted", "gpg", []string{"env", "GNUPGHOME=home", "gpg", "--pinentry-mode", "loopback", "--no-symkey-cache", "-c", "plain"},
			expectText("Enter passphrase: "), sendSecret("hunter2")).with(func(d *dialogue) { d.setup = gpgHome }),
		programDialogue("pages of less", "less", []string{"env", "LESS=", "less", "text"},
			expectText("line 10\r"), sendText(" "), expectText("line 40\r"), sendText("G"), expectText("line 99"), expectText("(END)"), sendText("q")).
			with(func(d *dialogue) { d.setup, d.sized = hundredLines, true }),
	}
}

// python returns the interpreter itself: the one in PATH may be a script that searches for it.
func python() string {
	path, err := runCombined(exec.Command("python3", "-c", "import sys; print(sys.executable)"))
	if err != nil {
		return "python3"
	}
	return strings.TrimSpace(path)
}

// gitIn creates a repository in dir and runs git commands in it.
func gitIn(dir string, commands ...string) error {
	commands = append([]string{"init -q", "config user.name bob", "config user.email bob@example.org", "config commit.gpgsign false"}, commands...)
	for _, c := range commands {
		cmd := exec.Command("git", strings.Fields(c)...)
		cmd.Dir = dir
		if _, err := runCombined(cmd); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file in dir.
func put(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
}

// twoHunks creates a repository with a file changed in two places.
func twoHunks(dir string) error {
	old := strings.Repeat("line\n", 30)
	if err := put(dir, "file", old); err != nil {
		return err
	}
	if err := gitIn(dir, "add file", "commit -qm one"); err != nil {
		return err
	}
	return put(dir, "file", "first\n"+old+"last\n")
}

// threeCommits creates a repository of three commits.
func threeCommits(dir string) error {
	return gitIn(dir, "commit -q --allow-empty -m one", "commit -q --allow-empty -m two", "commit -q --allow-empty -m three")
}

// emptyDisk creates an empty disk image.
func emptyDisk(dir string) error {
	if err := put(dir, "disk.img", ""); err != nil {
		return err
	}
	return os.Truncate(filepath.Join(dir, "disk.img"), 16<<20)
}

// gpgHome creates a GnuPG home directory.
func gpgHome(dir string) error {
	if err := os.Mkdir(filepath.Join(dir, "home"), 0o700); err != nil {
		return err
	}
	return put(dir, "plain", "text\n")
}

// hundredLines writes a file of a hundred lines.
func hundredLines(dir string) error {
	var b strings.Builder
	for i := range 100 {
		b.WriteString("line " + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "\n")
	}
	return put(dir, "text", b.String())
}
