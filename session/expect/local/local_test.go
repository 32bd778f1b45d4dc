//go:build unix

package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/expect"
	"github.com/longterm-dev/longterm/session/program"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// newDriver returns a driver whose program ends with the test.
func newDriver(t *testing.T, dir string) *Driver {
	t.Helper()
	l := &Driver{Cmd: program.Cmd{Dir: dir}, Secret: func(_ context.Context, ref string) ([]byte, error) {
		if ref == "env:PW" {
			return []byte("hunter2"), nil
		}
		return nil, errors.New("no such secret")
	}}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// sshScript behaves like ssh with an unknown host and a password.
const sshScript = `
echo "The authenticity of host 'example' can't be established."
printf 'Are you sure you want to continue connecting (yes/no)? '; read -r a; [ "$a" = yes ] || exit 255
for i in 1 2 3; do
	stty -echo; printf "bob@example's password: "; read -r p; stty echo; echo
	[ "$p" = hunter2 ] && break; echo "Permission denied, please try again."
done
[ "$p" = hunter2 ] || exit 255
while printf 'example$ '; read -r c; do case $c in exit) exit 4;; *) echo "ran <$c>";; esac; done
`

// TestDriver_RunsScripts checks that programs of this process behave in scripts as those of a daemon's session.
// FEATURES: R51, R53, R55, R87
func TestDriver_RunsScripts(t *testing.T) {
	tier.Full(t)
	for _, tt := range []struct {
		name, needs, src string
		fails            string // part of the report's error; empty: success
	}{
		{name: "ssh", needs: "stty", src: `
steps:
  - spawn: {argv: [/bin/sh, -c, "${ssh}"]}
  - expect:
      - {text: "(yes/no)?", do: [{line: "yes"}]}
      - {text: password, do: [{fail: the host was known}]}
  - expect: "bob@example's password: "
  - secret: env:PW
    enter: true
  - loop: [ls, pwd, ls]
    as: cmd
    do:
      - expect: "example$ "
      - line: ${cmd}
      - expect: "ran <${cmd}>"
  - expect: "example$ "
  - line: exit
  - wait: exit
  - assert: {exit: 4, not: {screen: hunter2}}
`},
		{name: "apt", needs: "sh", src: `
steps:
  - spawn:
      command: "printf 'Do you want to continue? [Y/n] '; read -r a; case $a in n*) echo Abort.; exit 1;; esac; echo Setting up $PACKAGE"
      env: {PACKAGE: thing}
  - expect: "[Y/n] "
  - keys: <Enter>
  - expect: Setting up thing
  - wait: exit
  - assert: {exit: 0}
`},
		{name: "forged password", needs: "sh", fails: "shows what is typed", src: `
steps:
  - spawn: "printf 'Password: '; read -r x; echo stolen $x"
  - expect: "Password: "
  - secret: env:PW
    enter: true
`},
		{name: "no such secret", needs: "sh", fails: "no such secret", src: `
steps:
  - spawn: "stty -echo; printf 'Password: '; read -r x"
  - expect: "Password: "
  - secret: env:OTHER
`},
		{name: "program ends before a match", needs: "sh", fails: "the program ended", src: `
steps:
  - spawn: "echo bye; exit 7"
  - expect: something else
`},
		{name: "a second program", needs: "sh", src: `
steps:
  - spawn: {argv: [cat], cwd: /, cols: 100, rows: 30}
  - paste: "pasted\n"
  - expect: pasted
  - spawn: "stty size; pwd; kill -TERM $$"
  - expect: 24 80
  - wait: exit
  - assert: {exit: 143}
`},
		{name: "openssl", needs: "openssl", src: `
steps:
  - spawn: {argv: [openssl, req, -new, -newkey, ec, -pkeyopt, "ec_paramgen_curve:P-256", -keyout, k.pem, -out, r.pem]}
  - loop: 2
    do:
      - expect: {regexp: "pass phrase:$"}
      - secret: env:PW
        enter: true
  - set: {over: "no"}
  - repeat:
      - expect:
          - {regexp: 'Common Name .*:$', do: [{line: example.org}]}
          - {regexp: 'Country Name .*:$', do: [{line: GB}]}
          - {regexp: '\]:$', do: [{line: ""}]}
          - {exit: true, do: [{set: {over: "yes"}}]}
    until: {var: over, equals: "yes"}
  - assert: {exit: 0}
`},
		{name: "rebase in vim", needs: "vim", src: `
steps:
  - spawn:
      command: "git init -q . && for m in one two three; do git commit -q --allow-empty -m $m; done; git rebase -i HEAD~2"
      env: {GIT_AUTHOR_NAME: bob, GIT_AUTHOR_EMAIL: b@example.org, GIT_COMMITTER_NAME: bob, GIT_COMMITTER_EMAIL: b@example.org, GIT_EDITOR: vim -u NONE -N, HOME: "${home}"}
  - expect: git-rebase-todo
  - keys: cwdrop<Esc>:wq<Enter>
  - expect: Successfully rebased
  - wait: exit
  - spawn: git log --format=%s
  - expect: three
  - expect: [{text: two, do: [{fail: it was not dropped}]}, {text: one}]
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tier.Need(t, tt.needs)
			dir := t.TempDir()
			vars := map[string]string{"ssh": sshScript, "home": dir}
			s, problems := expect.Load([]byte(tt.src), expect.LoadOptions{Vars: vars})
			if s == nil {
				t.Fatalf("problems: %v", problems)
			}
			rep := expect.Run(t.Context(), s, newDriver(t, dir), expect.Options{Vars: vars, StepTimeout: time.Minute})
			if rep.OK != (tt.fails == "") || !strings.Contains(rep.Error, tt.fails) {
				t.Errorf("got error %q, want %q\n%s", rep.Error, tt.fails, rep.Screen)
			}
			if tt.name == "openssl" {
				if st, err := os.Stat(filepath.Join(dir, "r.pem")); err != nil || st.Size() == 0 {
					t.Error("openssl wrote no request: ", err)
				}
			}
		})
	}
}

// FEATURES: R55
func TestDriver_BeforeSpawn_Fails(t *testing.T) {
	l := newDriver(t, "")
	_, expectErr := l.Expect(t.Context(), []expect.Pattern{{Text: "x"}})
	_, stateErr := l.State(t.Context())
	for _, err := range []error{l.Type(t.Context(), expect.Input{Kind: expect.InputText, Value: "x"}), expectErr, stateErr} {
		if !errors.Is(err, errNotStarted) {
			t.Errorf("got error %v, want %v", err, errNotStarted)
		}
	}
	if err := l.Spawn(t.Context(), expect.Spawn{Argv: []string{"/no/such/program"}}); err == nil {
		t.Error("spawn of a missing program: got no error")
	}
}
