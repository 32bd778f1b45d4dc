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

// dialogue is a conversation with a program that every contender of `bench expect` holds,
// step by step, in a directory of its own.
type dialogue struct {
	name  string
	needs []string // programs
	setup func(dir string) error
	argv  []string
	sized bool // the program must know the terminal's size
	steps []turn
	exit  int           // status it has to end with
	limit time.Duration // of a step; 0: dialogueTime
}

func (d *dialogue) timeout() time.Duration { return cmp.Or(d.limit, dialogueTime) }

// turn is one step. One field is set.
type turn struct {
	expect string // text as it stands
	regexp string // where it is not known; in what RE2, Python and Tcl understand alike
	send   string
	secret string // sent once the echo is off, by those that can tell
}

func see(s string) turn    { return turn{expect: s} }
func say(s string) turn    { return turn{send: s} }
func line(s string) turn   { return turn{send: s + "\r"} }
func unseen(s string) turn { return turn{secret: s} }

func stub(name, script string, exit int, steps ...turn) dialogue {
	return dialogue{name: name, needs: []string{"sh", "stty"}, argv: []string{"sh", "-c", script}, steps: steps, exit: exit}
}

func installed(name, needs string, argv []string, steps ...turn) dialogue {
	return dialogue{name: name, needs: strings.Fields(needs), argv: argv, steps: steps}
}

func (d dialogue) with(f func(*dialogue)) dialogue {
	f(&d)
	return d
}

func repeat(n int, steps ...turn) (all []turn) {
	for range n {
		all = append(all, steps...)
	}
	return all
}

// dialogues are what people automate with expect.
func dialogues() []dialogue {
	return []dialogue{
		stub("a name", `printf 'Name: '; read -r n; echo "Hello, $n."`, 0,
			see("Name: "), line("bob"), see("Hello, bob.")),
		stub("login and password", `printf 'login: '; read -r n; stty -echo; printf 'Password: '; read -r p; stty echo; echo
			[ "$p" = hunter2 ] && echo "Welcome, $n"`, 0,
			see("login: "), line("bob"), see("Password: "), unseen("hunter2"), see("Welcome, bob")),
		stub("a new password, typed wrong once", `stty -echo; printf 'Current password: '; read -r o; echo
			while :; do printf 'New password: '; read -r a; echo; printf 'Retype new password: '; read -r b; echo
			[ "$a" = "$b" ] && break; echo 'Sorry, passwords do not match.'; done; stty echo; echo 'password updated'`, 0,
			see("Current password: "), unseen("old"), see("New password: "), unseen("one"), see("Retype new password: "),
			unseen("two"), see("do not match"), see("New password: "), unseen("new"), see("Retype new password: "),
			unseen("new"), see("password updated")),
		stub("a host key and a password", `echo "The authenticity of host 'example' can't be established."
			printf 'Are you sure you want to continue connecting (yes/no)? '; read -r a; [ "$a" = yes ] || exit 1
			stty -echo; printf "bob@example's password: "; read -r p; stty echo; echo; [ "$p" = hunter2 ] || exit 1
			while printf 'example$ '; read -r c; do [ "$c" = exit ] && exit 4; echo "ran $c"; done`, 4,
			see("(yes/no)? "), line("yes"), see("password: "), unseen("hunter2"), see("example$ "), line("ls"), see("ran ls"),
			see("example$ "), line("exit")),
		stub("a wrong password, then the right one", `stty -echo; for i in 1 2 3; do printf '[sudo] password for bob: '; read -r p; echo
			[ "$p" = hunter2 ] && { stty echo; echo 'uid=0(root)'; exit 0; }; echo 'Sorry, try again.'; done; exit 1`, 0,
			see("password for bob: "), unseen("guess"), see("try again"), see("password for bob: "), unseen("hunter2"), see("uid=0")),
		stub("yes or no, with a default", `printf 'Do you want to continue? [Y/n] '; read -r a; case $a in n*) echo Abort.; exit 1;; esac; echo 'Setting up'`, 0,
			see("continue? [Y/n] "), line(""), see("Setting up")),
		stub("the same question five times", `for i in 1 2 3 4 5; do printf 'Overwrite? (y/n) '; read -r a; n="$n$a"; done; echo "answers $n"`, 0,
			append(repeat(5, see("Overwrite? (y/n) "), line("y")), see("answers yyyyy"))...),
		stub("fifty quick questions", `i=0; while [ $i -lt 50 ]; do printf 'next: '; read -r a; i=$((i+1)); done; echo "that was $i"`, 0,
			append(repeat(50, see("next: "), line("x")), see("that was 50"))...),
		stub("a question after much output", `i=0; while [ $i -lt 20000 ]; do echo "$i all is well with this line of the log"; i=$((i+1)); done; printf 'Keep? '; read -r a; echo "kept $a"`, 0,
			see("Keep? "), line("it"), see("kept it")),
		installed("a menu of bash", "bash", []string{"bash", "-c", `PS3='Which? '; select x in red green blue; do echo "You took $x"; [ "$x" = blue ] && break; done`},
			see("Which? "), line("1"), see("You took red"), see("Which? "), line("3"), see("You took blue")),
		installed("three commands of bash", "bash", []string{"env", "PS1=ready> ", "bash", "--norc", "--noprofile"},
			see("ready> "), line("echo a$((1+1))b"), see("a2b"), see("ready> "), line("cd /; pwd"), see("/"), see("ready> "),
			line("false"), see("ready> "), line("exit 5")).with(func(d *dialogue) { d.exit = 5 }),
		installed("five sums in Python", "python3", []string{"env", "PYTHON_BASIC_REPL=1", python(), "-q"},
			append(repeat(5, see(">>> "), line("print('su' + 'm', 6*7)"), see("sum 42")), see(">>> "), line("exit(3)"))...).
			with(func(d *dialogue) { d.exit = 3 }),
		installed("a password in Python", "python3", []string{python(), "-c", "import getpass; p = getpass.getpass(); print('right' if p == 'hunter2' else 'wrong')"},
			see("Password: "), unseen("hunter2"), see("right")),
		installed("hunks to commit", "git", []string{"git", "add", "-p"},
			turn{regexp: `Stage this hunk \[[^]]*\]\? `}, line("y"), turn{regexp: `Stage this hunk \[[^]]*\]\? `}, line("n")).with(func(d *dialogue) { d.setup = twoHunks }),
		installed("a rebase in vim", "git vim", []string{"git", "-c", "core.editor=vim -u NONE -N", "rebase", "-i", "HEAD~2"},
			see("git-rebase-todo"), say(":s/pick/drop/\r"), say(":wq\r"), see("Successfully rebased")).
			with(func(d *dialogue) { d.setup, d.sized = threeCommits, true }),
		installed("a partition", "fdisk", []string{"fdisk", "disk.img"},
			see("(m for help): "), line("o"), see("(m for help): "), line("n"), see("(default p): "), line("p"), see("(1-4, default 1): "), line(""),
			turn{regexp: `First sector .*: `}, line(""), turn{regexp: `Last sector.*: `}, line("+1M"), see("(m for help): "), line("w"), see("altered")).
			with(func(d *dialogue) { d.setup = emptyDisk }),
		installed("a certificate request", "openssl", []string{"openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", "k.pem", "-out", "r.pem"},
			see("pass phrase:"), unseen("hunter2"), see("Verifying"), unseen("hunter2"), see("Country Name"), line("GB"), see("State or Province"), line(""),
			see("Locality"), line("Here"), see("Organization Name"), line(""), see("Unit Name"), line(""), see("Common Name"), line("example"),
			see("Email"), line(""), see("challenge password"), line(""), see("optional company"), line("")),
		installed("a key with a passphrase", "ssh-keygen", []string{"ssh-keygen", "-t", "ed25519", "-f", "key"},
			see("empty for no passphrase): "), unseen("hunter2"), see("same passphrase again: "), unseen("hunter2"), see("fingerprint")),
		installed("a file encrypted", "gpg", []string{"env", "GNUPGHOME=home", "gpg", "--pinentry-mode", "loopback", "--no-symkey-cache", "-c", "plain"},
			see("Enter passphrase: "), unseen("hunter2")).with(func(d *dialogue) { d.setup = gpgHome }),
		installed("pages of less", "less", []string{"env", "LESS=", "less", "text"},
			see("line 10\r"), say(" "), see("line 40\r"), say("G"), see("line 99"), see("(END)"), say("q")).
			with(func(d *dialogue) { d.setup, d.sized = hundredLines, true }),
	}
}

// python is the interpreter itself: what PATH names may be a script that looks for it.
func python() string {
	path, err := combined(exec.Command("python3", "-c", "import sys; print(sys.executable)"))
	if err != nil {
		return "python3"
	}
	return strings.TrimSpace(path)
}

// gitIn runs git commands, given as words, in a fresh repository.
func gitIn(dir string, commands ...string) error {
	commands = append([]string{"init -q", "config user.name bob", "config user.email bob@example.org", "config commit.gpgsign false"}, commands...)
	for _, c := range commands {
		cmd := exec.Command("git", strings.Fields(c)...)
		cmd.Dir = dir
		if _, err := combined(cmd); err != nil {
			return err
		}
	}
	return nil
}

func put(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
}

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

func threeCommits(dir string) error {
	return gitIn(dir, "commit -q --allow-empty -m one", "commit -q --allow-empty -m two", "commit -q --allow-empty -m three")
}

func emptyDisk(dir string) error {
	if err := put(dir, "disk.img", ""); err != nil {
		return err
	}
	return os.Truncate(filepath.Join(dir, "disk.img"), 16<<20)
}

func gpgHome(dir string) error {
	if err := os.Mkdir(filepath.Join(dir, "home"), 0o700); err != nil {
		return err
	}
	return put(dir, "plain", "text\n")
}

func hundredLines(dir string) error {
	var b strings.Builder
	for i := range 100 {
		b.WriteString("line " + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "\n")
	}
	return put(dir, "text", b.String())
}
