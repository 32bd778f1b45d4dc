//go:build unix

package sessiontest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/program"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// Dialogues with real programs, as people hold them. Each needs its program.

// needs skips a test if a program is missing. It returns the path of the last one.
func needs(t *testing.T, programs ...string) (path string) {
	t.Helper()
	for _, name := range programs {
		var err error
		if path, err = exec.LookPath(name); err != nil {
			for _, dir := range []string{"/usr/sbin", "/sbin"} {
				if p, e := exec.LookPath(filepath.Join(dir, name)); e == nil {
					path, err = p, nil
				}
			}
		}
		if err != nil {
			t.Skipf("%s is needed: %v", name, err)
		}
	}
	return path
}

// must runs a program that is not talked to.
func must(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// home returns a new directory for HOME, with a short path for sockets in it.
func home(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("HOME", dir)
	return dir
}

// FEATURES: R51, R53
func TestPasswd(t *testing.T) {
	needs(t, "stty")
	p := Start(t, "sh", "-c", `stty -echo; printf 'Current password: '; read -r o; echo
		while :; do
			printf 'New password: '; read -r a; echo; printf 'Retype new password: '; read -r b; echo
			[ "$a" = "$b" ] && break; echo 'Sorry, passwords do not match.'
		done; stty echo; echo "password of ${#a} characters"`)
	answer := func(prompt, secret string) {
		p.Expect(prompt)
		p.Secret(secret)
		p.Keys("<Enter>")
	}
	answer("Current password: ", "old")
	answer("New password: ", "one")
	answer("Retype new password: ", "two")
	p.Expect("do not match")
	answer("New password: ", "newest")
	answer("Retype new password: ", "newest")
	p.Expect("password of 6 characters")
	p.ExpectExit(0)
	for _, secret := range []string{"old", "newest"} {
		if strings.Contains(p.Screen(), secret+"\n") {
			t.Error("a secret is on the screen")
		}
	}
}

// TestSameQuestionFiveTimes checks that the same question five times is five questions.
// FEATURES: R51
func TestSameQuestionFiveTimes(t *testing.T) {
	p := Start(t, "sh", "-c", `for i in 1 2 3 4 5; do printf 'Overwrite? (y/n) '; read -r a; n="$n$a"; done; echo "answers: $n"`)
	for range 5 {
		p.Expect("Overwrite? (y/n) ")
		p.Line("y")
	}
	p.Expect("answers: yyyyy")
	p.ExpectExit(0)
}

// TestDefaultAnswer checks that Enter alone takes the default, as apt does.
// FEATURES: R51
func TestDefaultAnswer(t *testing.T) {
	for answer, want := range map[string]string{"": "Setting up", "n": "Abort."} {
		p := Start(t, "sh", "-c", `printf 'Do you want to continue? [Y/n] '; read -r a; case $a in [nN]*) echo Abort.; exit 1;; esac; echo 'Setting up'`)
		p.Expect("[Y/n] ")
		p.Line(answer)
		p.Expect(want)
	}
}

// TestForgedPassword checks that a program that prints a password prompt and echoes its input gets no secret.
// FEATURES: R53
func TestForgedPassword(t *testing.T) {
	p := Start(t, "sh", "-c", `printf 'Password: '; read -r x; echo "stolen: <$x>"`)
	p.Expect("Password: ")
	if err := p.Program().Secret(t.Context(), []byte("hunter2")); !errors.Is(err, program.ErrEchoed) {
		t.Errorf("the secret was sent: %v", err)
	}
	p.Line("")
	p.Expect("stolen: <>")
}

// FEATURES: R51, R53
func TestSu(t *testing.T) {
	needs(t, "stty")
	const su = `stty -echo; for i in 1 2 3; do printf '[sudo] password for bob: '; read -r p; echo
		[ "$p" = hunter2 ] && { stty echo; echo 'uid=0(root)'; exit 0; }; echo 'Sorry, try again.'; done; exit 1`
	p := Start(t, "sh", "-c", su)
	for _, guess := range []string{"guess", "hunter2"} {
		p.Expect("password for bob: ")
		p.Secret(guess)
		p.Keys("<Enter>")
	}
	p.Expect("uid=0")
	p.ExpectExit(0)
}

// TestSudo runs the real sudo, which prompts with echo off and gets a wrong secret. Nothing is set up for it: root runs
// it as the user nobody.
// FEATURES: R51, R53
func TestSudo(t *testing.T) {
	tier.Full(t)
	needs(t, "sudo")
	argv := []string{"sudo", "-k", "-p", "secret please: ", "id"}
	if os.Getuid() == 0 {
		needs(t, "setpriv")
		argv = append([]string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"}, argv...)
	}
	p := StartCmd(t, program.Cmd{Argv: argv, Dir: "/"})
	if m := p.ExpectAny(program.Text("secret please: "), program.Ended); m.Pattern == 1 {
		t.Logf("it asks nothing here:\n%s", p.Screen())
		return
	}
	p.Secret("this is not it")
	p.Keys("<Enter>")
	p.ExpectAny(program.Text("secret please: "), program.Regexp("[Ss]orry|not in the sudoers"))
	if strings.Contains(p.Screen(), "this is not it") {
		t.Error("the secret is on the screen")
	}
	p.Keys("<C-c>")
}

// sshServer returns the configuration with which ssh reaches a private server, for one key, that runs a command. It
// uses no port and no file of the system.
func sshServer(t *testing.T, dir string) (proxy string) {
	t.Helper()
	sshd := needs(t, "ssh", "ssh-keygen", "sshd")
	must(t, dir, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "host")
	must(t, dir, "ssh-keygen", "-q", "-t", "ed25519", "-N", "open sesame", "-f", "key")
	must(t, dir, "cp", "key.pub", "authorized")
	if os.Getuid() == 0 && os.Mkdir("/run/sshd", 0o755) == nil { // a root's server insists on it
		t.Cleanup(func() { _ = os.Remove("/run/sshd") })
	}
	config := "HostKey " + dir + "/host\nAuthorizedKeysFile " + dir + "/authorized\nPidFile none\nStrictModes no\n" +
		"UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n"
	path := filepath.Join(dir, "sshd_config")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return sshd + " -i -f " + path
}

// TestSSH confirms the host's key, enters the passphrase of a key, and runs a command.
// FEATURES: R51, R53, R55
func TestSSH(t *testing.T) {
	tier.Full(t)
	dir := home(t)
	argv := []string{
		"ssh", "-F", "none", "-o", "ProxyCommand=" + sshServer(t, dir), "-i", filepath.Join(dir, "key"), "-o", "IdentitiesOnly=yes",
		"-o", "IdentityAgent=none", "-o", "UserKnownHostsFile=" + filepath.Join(dir, "known"), "there.example",
	}
	p := StartCmd(t, program.Cmd{Argv: append(argv[:len(argv):len(argv)], "-t", "printf 'over there: '; read -r x; echo got $x; exit 9")})
	p.Expect("(yes/no/[fingerprint])? ")
	p.Line("what")
	p.Expect("type 'yes', 'no' or the fingerprint: ")
	p.Line("yes")
	p.ExpectRegexp(`Enter passphrase for key '.*/key': $`)
	p.Secret("not this")
	p.Keys("<Enter>")
	p.ExpectRegexp(`Enter passphrase for key '.*/key': $`)
	p.Secret("open sesame")
	p.Keys("<Enter>")
	p.Expect("over there: ")
	p.Line("it")
	p.Expect("got it")
	p.ExpectExit(9)
	q := Start(t, argv[0], append(argv[1:], "exit 4")...) // the host is known now
	if m := q.Expect("(yes/no", "Enter passphrase"); m.Pattern != 1 {
		t.Error("a known host needs confirmation")
	}
	q.Secret("open sesame")
	q.Keys("<Enter>")
	q.ExpectExit(4)
}

// FEATURES: R51, R53
func TestGPG(t *testing.T) {
	tier.Full(t)
	needs(t, "gpg")
	dir := home(t)
	gnupg := filepath.Join(dir, "g")
	if err := os.Mkdir(gnupg, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GNUPGHOME", gnupg)
	t.Cleanup(func() {
		if exec.Command("gpgconf", "--homedir", gnupg, "--kill", "all").Run() != nil {
			t.Log("gpgconf is not there to end gpg's agent")
		}
	})
	p := Start(t, "gpg", "--pinentry-mode", "loopback", "--quick-generate-key", "Bob <bob@example.org>", "ed25519", "sign", "never")
	p.Expect("Enter passphrase: ")
	p.Secret("open sesame")
	p.Keys("<Enter>")
	p.ExpectExit(0)
	if out := must(t, dir, "gpg", "--list-secret-keys"); !strings.Contains(out, "Bob <bob@example.org>") {
		t.Error(out)
	}
	q := Start(t, "gpg", "--full-generate-key", "--expert", "--pinentry-mode", "loopback")
	q.Expect("Your selection? ")
	q.Line("10") // ECC, to sign
	q.ExpectRegexp(`Please select which elliptic curve`)
	q.Expect("Your selection? ") // the same words, another question
	q.Line("1")
	q.Expect("Key is valid for? (0) ")
	q.Line("")
	q.Expect("Is this correct? (y/N) ")
	q.Line("y")
	q.Expect("Real name: ")
	q.Line("Ann Other")
	q.Expect("Email address: ")
	q.Line("ann@example.org")
	q.Expect("Comment: ")
	q.Line("")
	q.Expect("(O)kay/(Q)uit? ")
	q.Line("q")
	q.ExpectAny(program.Ended)
}

// FEATURES: R51, R53
func TestOpenSSL(t *testing.T) {
	needs(t, "openssl")
	dir := t.TempDir()
	p := StartCmd(t, program.Cmd{Dir: dir, Argv: []string{
		"openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", "k.pem", "-out", "r.pem",
	}})
	for range 2 {
		p.ExpectRegexp(`pass phrase:$`)
		p.Secret("open sesame")
		p.Keys("<Enter>")
	}
	for _, step := range []struct{ prompt, answer string }{
		{`Country Name .*:$`, "GB"},
		{`State or Province .*:$`, ""},
		{`Locality .*:$`, "Here"},
		{`Organization Name .*:$`, ""},
		{`Organizational Unit .*:$`, ""},
		{`Common Name .*:$`, "example.org"},
		{`Email Address .*:$`, ""},
		{`challenge password .*:$`, ""},
		{`optional company name .*:$`, ""},
	} {
		p.ExpectRegexp(step.prompt)
		p.Line(step.answer)
	}
	p.ExpectExit(0)
	if out := must(t, dir, "openssl", "req", "-in", "r.pem", "-noout", "-subject"); !strings.Contains(out, "example.org") {
		t.Error(out)
	}
}

// FEATURES: R51
func TestNPM(t *testing.T) {
	tier.Full(t)
	needs(t, "node", "npm")
	dir := home(t)
	t.Setenv("npm_config_update_notifier", "false")
	t.Setenv("npm_config_cache", filepath.Join(dir, "cache"))
	if err := os.Mkdir(filepath.Join(dir, "pack"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := StartCmd(t, program.Cmd{Dir: filepath.Join(dir, "pack"), Argv: []string{"npm", "init"}})
	for _, step := range []struct{ prompt, answer string }{
		{`package name: \(pack\) $`, "thing"},
		{`version: \(1\.0\.0\) $`, ""},
		{`description: $`, "It is a thing"},
		{`entry point: \(index\.js\) $`, ""},
		{`test command: $`, ""},
		{`git repository: $`, ""},
		{`keywords: $`, ""},
		{`author: $`, "Bob"},
		{`license: .*$`, "MIT"},
		{`Is this OK\? \(yes\) $`, ""},
	} {
		if m := p.ExpectAny(program.Regexp(step.prompt), program.Regexp(`^type: .*$`)); m.Pattern == 1 { // newer versions prompt
			p.Line("")
			p.ExpectRegexp(step.prompt)
		}
		p.Line(step.answer)
	}
	p.ExpectExit(0)
	b, err := os.ReadFile(filepath.Join(dir, "pack", "package.json"))
	if err != nil || !strings.Contains(string(b), `"name": "thing"`) {
		t.Errorf("%s, %v", b, err)
	}
}

// FEATURES: R51
func TestPython(t *testing.T) {
	needs(t, "python3")
	t.Setenv("PYTHON_BASIC_REPL", "1")
	t.Setenv("PYTHON_HISTORY", filepath.Join(t.TempDir(), "history"))
	p := Start(t, "python3", "-q", "-i")
	prompt := program.Regexp(`^>>> $`)
	p.ExpectAny(prompt)
	p.Line(`print(">>> " + "su" + "m", 6*7)`) // prints text that only looks like a prompt
	p.Expect(">>> sum 42")
	p.ExpectAny(prompt)
	p.Line("def double(x):")
	p.ExpectRegexp(`^\.\.\. $`)
	p.Line("    return 2 * x")
	p.ExpectRegexp(`^\.\.\. $`)
	p.Line("")
	for i := range 3 {
		p.ExpectAny(prompt)
		p.Line("double(" + strconv.Itoa(i+10) + ")")
		p.ExpectRegexp("^" + strconv.Itoa(2*(i+10)) + "$")
	}
	p.ExpectAny(prompt)
	p.Line("while True: pass")
	p.ExpectRegexp(`^\.\.\. $`)
	p.Line("")
	p.Keys("<C-c>")
	p.Expect("KeyboardInterrupt")
	p.ExpectAny(prompt)
	p.Line("raise SystemExit(5)")
	p.ExpectExit(5)
}

// FEATURES: R51
func TestBashSelect(t *testing.T) {
	needs(t, "bash")
	p := Start(t, "bash", "-c", `PS3='Which? '; select x in red green blue; do echo "You took $x, number $REPLY"; [ "$x" = blue ] && break; done`)
	blue := p.ExpectRegexp(`(\d)\) blue`).Groups[1]
	for _, step := range []struct{ answer, taken string }{{"1", "red"}, {"9", ", number 9"}, {blue, "blue, number " + blue}} {
		p.Expect("Which? ")
		p.Line(step.answer)
		p.Expect("You took " + step.taken)
	}
	p.ExpectExit(0)
}

// FEATURES: R51
func TestFdisk(t *testing.T) {
	fdisk := needs(t, "fdisk")
	image := filepath.Join(t.TempDir(), "disk.img")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 16<<20)); err != nil {
		t.Fatal(err)
	}
	p := Start(t, fdisk, image)
	ask := func(prompt, answer string) {
		t.Helper()
		p.Expect(prompt)
		p.Line(answer)
	}
	command := "Command (m for help): "
	ask(command, "o")
	ask(command, "n")
	ask("Select (default p): ", "p")
	ask("Partition number (1-4, default 1): ", "")
	p.ExpectRegexp(`First sector \((\d+)-\d+, default \d+\): $`)
	p.Line("")
	p.ExpectRegexp(`Last sector, .*: $`)
	p.Line("+1M")
	p.Expect("Created a new partition 1")
	ask(command, "p")
	p.ExpectRegexp(`disk.img1 +2048 +4095 +2048 +1M`)
	ask(command, "w")
	p.Expect("has been altered")
	p.ExpectExit(0)
	b, err := os.ReadFile(image)
	if err != nil || !bytes.Equal(b[510:512], []byte{0x55, 0xaa}) {
		t.Errorf("%x, %v", b[510:512], err)
	}
}

// TestRebaseInVim runs a rebase in vim: a full-screen program in the middle of a command.
// FEATURES: R51
func TestRebaseInVim(t *testing.T) {
	needs(t, "git", "vim")
	dir := home(t)
	for _, args := range [][]string{
		{"init", "-q"},
		{"config", "user.name", "bob"},
		{"config", "user.email", "bob@example.org"},
		{"config", "commit.gpgsign", "false"},
		{"config", "core.editor", "vim -u NONE -N"},
		{"commit", "-q", "--allow-empty", "-m", "one"},
		{"commit", "-q", "--allow-empty", "-m", "two"},
		{"commit", "-q", "--allow-empty", "-m", "three"},
	} {
		must(t, dir, "git", args...)
	}
	p := StartCmd(t, program.Cmd{Dir: dir, Argv: []string{"git", "rebase", "-i", "HEAD~2"}})
	p.WaitFor(session.Cond{Kind: session.CondFullscreen})
	p.Expect("git-rebase-todo")
	p.WaitFor(session.Cond{Kind: session.CondText, Text: "three"}) // it may arrive after the name
	if screen := p.Screen(); !strings.Contains(screen, "two") || !strings.Contains(screen, "three") {
		t.Errorf("the commits are not on the screen:\n%s", screen)
	}
	p.Keys("cwdrop<Esc>:wq<Enter>")
	p.Expect("Successfully rebased")
	p.ExpectExit(0)
	if out := must(t, dir, "git", "log", "--format=%s"); out != "three\none\n" {
		t.Errorf("%q", out)
	}
}

// TestExpectTimeout checks that a wait lasts no longer than its timeout.
// FEATURES: R51, R87
func TestExpectTimeout(t *testing.T) {
	p := Start(t, "cat")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := p.Program().Expect(ctx, program.Text("never")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
