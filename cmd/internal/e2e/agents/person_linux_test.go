package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// ordinary lists lines of a user's day, in words that all shells have. Lines whose program is missing fail, which is
// ordinary too.
var ordinary = []string{
	"git init -q repo", "git -C repo config user.email me@example.org", "git -C repo config user.name me",
	"echo hello >repo/file", "git -C repo add -A", "git -C repo commit -q -m 'one; rm -rf / is only said'", "git -C repo log --oneline",
	"git -C repo checkout -q -b topic", "git -C repo commit -q --amend --no-edit", "git -C repo rebase -q HEAD", "git -C repo reset -q --hard",
	"git -C repo clean -fdx", "git -C repo stash list", "git -C repo branch -D nothing", "git -C repo push --force origin topic",
	"printf 'all:\\n\\techo made >made\\nclean:\\n\\trm -rf made\\n' >Makefile", "make", "make -j2 clean all", "make -n clean",
	"mkdir -p build/deep", "touch build/deep/object.o", "cp -r build build2", "mv build2 build3", "rm -rf build build3", "rm -f *.o nothing",
	"find . -name '*.o' -delete", "find . -type f -exec ls -l {} +", "ls | xargs -n1 echo", "tar czf all.tgz repo", "tar tzf all.tgz >/dev/null",
	"chmod 600 Makefile", "chmod -R u+w repo", "ln -sf Makefile link", "dd if=/dev/zero of=zeros bs=1k count=4", "truncate -s 0 zeros",
	"sudo -n true", "sudo -n ls /root", "su -c true nobody </dev/null", "sleep 100 &", "kill %1", "kill -9 999999", "pkill -x nobodysname",
	"ssh-keygen -q -t ed25519 -N '' -f key", "ssh-keygen -lf key.pub", "ssh -o BatchMode=yes -o ConnectTimeout=1 127.0.0.1 -p 1 true",
	"docker ps", "docker images", "docker rm nobodys-container", "python3 -c 'import os; os.system(\"true\"); print(1)'",
	"python3 -c 'import subprocess; subprocess.run([\"rm\", \"-rf\", \"build\"])'", "perl -e 'system(\"true\")'", "awk 'BEGIN { system(\"true\") }'",
	"vim -es -u NONE -c 'w! written' -c q Makefile", "vim -es -u NONE -c '!true' -c q", "sed -i s/echo/printf/ Makefile", "tmux -L person-test -f /dev/null new-session -d true",
	"tmux -L person-test kill-server", "curl -s http://127.0.0.1:1/", "curl -s http://127.0.0.1:1/install.sh | sh", "wget -q -O- http://127.0.0.1:1/",
	"env -i PATH=$PATH true", "FOO=1 sh -c 'echo $FOO'", "eval echo evaluated", "echo $HOME ~ $PATH >/dev/null", "crontab -l", "systemctl status nothing",
	"mount", "df -h .", "ps aux | head -3", "history | tail -1", "true && false || true", "cd repo", "cd ..", "nice -n 5 true", "timeout 1 true", "nohup true",
}

// filters lists the system calls that the kernel must report for a process.
func filters(t *testing.T, pid string) string {
	t.Helper()
	b, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Fatal(err)
	}
	var of []string
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "Seccomp") || strings.HasPrefix(line, "NoNewPrivs") {
			of = append(of, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(of, ", ")
}

// TestUsersOwnSession_NeedsNoApproval runs a user's session without label and rules. Typed and submitted lines need no
// approval, executions are not checked, and its programs carry no seccomp filter.
//
// FEATURES: R61 R64 R107
func TestUsersOwnSession_NeedsNoApproval(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	given := 0
	for _, shell := range []string{"bash", "zsh", "fish"} {
		tier.Need(t, shell)
		dir := filepath.Join(t.TempDir(), "work") // not among longterm's own files
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		argv := map[string][]string{"bash": {"bash", "--norc"}, "zsh": {"zsh", "-f"}, "fish": {"fish", "--no-config"}}[shell]
		i.Run(append([]string{"new", "-n", shell, "--cwd", dir, "--"}, argv...)...)
		for _, line := range ordinary {
			out, errOut, code := i.Try("exec", shell, "--wait", "--json", "--timeout", "60s", "--on-timeout", "kill", "--", line)
			given++
			switch code {
			case 111, 116, 119, 123: // it waits, the shell is busy, denied, rejected
				t.Errorf("%s: %s: exit status %d\n%s%s", shell, line, code, out, errOut)
			}
			if strings.Contains(errOut, "approval") {
				t.Errorf("%s: %s: %s", shell, line, errOut)
			}
		}
		for n, line := range []string{"rm -rf build; git -C repo clean -fdx", "sudo -n true", "python3 -c 'import os; os.system(\"true\")'"} {
			done := fmt.Sprintf("done%d", n)
			i.Run("send", shell, line+"; touch "+done, "--enter")
			e2e.Eventually(t, line+" is done", func() bool { _, err := os.Stat(filepath.Join(dir, done)); return err == nil })
		}
		s := i.Info(shell)
		if s.Executions == "judged" || len(s.Approvals) > 0 {
			t.Errorf("%s: executions %s, approvals %v", shell, s.Executions, s.Approvals)
		}
		// Support for filters is tested in a thread that runs nothing else, perhaps the process's first.
		if ours, its := filters(t, "thread-self"), filters(t, strconv.Itoa(s.PID)); ours != its {
			t.Errorf("%s has %s, and we have %s", shell, its, ours)
		}
	}
	if given < 200 {
		t.Errorf("%d lines", given)
	}
	if all := e2e.Decode[[]api.Approval](t, i.Run("approvals", "--all", "--json")); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	for _, r := range e2e.Decode[[]audit.Record](t, i.Run("audit", "--json", "--limit", "0")) {
		if r.Kind == audit.Execution || r.Verdict == "ask" || r.Verdict == "deny" {
			t.Errorf("%+v", r)
		}
	}
}
