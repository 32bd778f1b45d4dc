//go:build unix

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// agentWork is a task of an agent.
type agentWork struct {
	name   string                                      // prepares the task's directory; nil: nothing to do
	before func(ctx context.Context, dir string) error // in the task's directory
	steps  []step
}

// agentFiles are the programs of the tasks. They write the true times of events into files next to them.
var agentFiles = map[string]string{
	// 40,000 lines in some seconds, and the failure at their end.
	"build.sh": `awk 'BEGIN { for (i = 1; i <= 40000; i++) {
  printf "[%5d/40000] cc -O2 -Wall -c src/module_%05d.c -o build/module_%05d.o\n", i, i, i
  if (i % 8000 == 0) { fflush(); system("sleep 1") } }
print "src/net/socket.c:812:17: error: use of undeclared identifier '"'so_reuseport'"'"
print "make: *** [Makefile:88: all] Error 1" }'
date +%s%N >end
exit 2
`,
	"silent.sh": `sleep "$1"; echo 'the silent job has finished'; date +%s%N >end
`,
	"login.sh": `date +%s%N >asked; printf 'Password for backup@store: '
stty -echo 2>/dev/null; read p; stty echo 2>/dev/null; echo
sleep 2; [ "$p" = open-sesame ] && echo 'access granted'; date +%s%N >end
`,
	// A build that takes $1 seconds.
	"slow.sh": `i=0; while [ $i -lt "$1" ]; do
  j=0; while [ $j -lt 200 ]; do echo "compiling target $i.$j of project $1, with optimisation"; j=$((j+1)); done
  sleep 1; i=$((i+1)); done
echo "built all of project $1"; date +%s%N >"end-$1"
`,
	// 10 MB with one error.
	"log.sh": `awk 'BEGIN { for (i = 1; i <= 120000; i++) {
  if (i == 77777) print "2026-01-01T00:00:00Z ERROR [disk] write failed: no space left on /dev/sdz9 (code 28)"
  else printf "2026-01-01T00:00:00Z info [worker-%03d] request %07d served from the cache in %d ms\n", i % 512, i, i % 97 } }'
date +%s%N >end
`,
	"server.py": `import http.server, time
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"hello from the dev server\n")
s = http.server.HTTPServer(("127.0.0.1", 0), H)
for i in range(4):
    print("bundling", i, flush=True); time.sleep(1)
open("port", "w").write(str(s.server_port))
open("up", "w").write(str(time.time_ns()))
print("listening on port", s.server_port, flush=True)
try:
    s.serve_forever()
except KeyboardInterrupt:
    open("down", "w").write(str(time.time_ns()))
`,
	"editor.sh": `n=1; [ -e edit-1 ] && n=2; date +%s%N >edit-$n; exec vim -u NONE -N "$1"
`,
	"watch.sh": `echo 'running 3 tests'; sleep 2; date +%s%N >passed; echo 'PASS 3 tests, watching for changes'
while ! [ -e source ]; do sleep 0.1; done
echo 'source changed, running 3 tests'; sleep 2; date +%s%N >failed; echo 'FAIL adds up: expected 2, got 3'
trap 'date +%s%N >stopped; exit 130' INT; while :; do sleep 0.1; done
`,
}

func writeAgentFiles(dir string) error {
	for name, text := range agentFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// npmEnd returns the last steps of `npm init`: from version 11 on npm also prompts for the type.
func npmEnd(ctx context.Context) []step {
	last := step{typed: "yes", until: "end"}
	out, err := exec.CommandContext(ctx, "npm", "--version").Output()
	var major int
	if _, scanned := fmt.Sscanf(string(out), "%d.", &major); err != nil || scanned != nil || major < 11 {
		return []step{last}
	}
	return []step{{typed: "commonjs", until: "input", want: "Is this OK"}, last}
}

// agentTasks returns the tasks. Lines run in the task's directory, next to the programs.
func agentTasks(ctx context.Context, o *agentOptions) []agentWork {
	const crashed = "built all of project 12"
	return []agentWork{
		{name: "failing-build", steps: []step{{run: "sh ../build.sh", until: "end", want: `socket\.c:812:17: error`, stamp: "end"}}},
		{name: "silent-job", steps: []step{
			{run: fmt.Sprintf("sh ../silent.sh %d", int(o.silent.Seconds())), until: "end", want: "has finished", stamp: "end"},
		}},
		{name: "password", steps: []step{
			{run: "sh ../login.sh", until: "input", want: "Password for", stamp: "asked"},
			{typed: "open-sesame", until: "end", want: "access granted", stamp: "end"},
		}},
		{name: "repl", steps: []step{
			{run: "python3 -q -i", interactive: true, until: "text", want: ">>>"},
			{typed: "sum(range(10**6))", until: "text", want: "499999500000"},
			{typed: "import time; time.sleep(4); _ = open('late', 'w').write(str(time.time_ns())); print('slow', 6*7)", until: "text", want: "slow 42", stamp: "late"},
			{typed: "exit()", until: "end"},
		}},
		{name: "parallel-builds", steps: []step{
			{terminal: "a", run: "sh ../slow.sh 5"}, {terminal: "b", run: "sh ../slow.sh 8"}, {terminal: "c", run: "sh ../slow.sh 11"},
			{terminal: "a", until: "end", want: "built all of project 5", stamp: "end-5"},
			{terminal: "b", until: "end", want: "built all of project 8", stamp: "end-8"},
			{terminal: "c", until: "end", want: "built all of project 11", stamp: "end-11"},
		}},
		{name: "big-log", steps: []step{{run: "sh ../log.sh", until: "end", want: "no space left on /dev/sdz9", find: "ERROR", stamp: "end"}}},
		{name: "dev-server", steps: []step{
			{terminal: "server", run: "python3 ../server.py", interactive: true, until: "text", want: "listening on port", stamp: "up"},
			{terminal: "curl", run: "curl -s http://127.0.0.1:$(cat port)/; date +%s%N >end", until: "end", want: "hello from", stamp: "end"},
			{terminal: "server", keys: []string{"C-c"}, until: "end"},
		}},
		{name: "git-rebase", before: repository, steps: []step{
			{run: `GIT_EDITOR="sh $PWD/../editor.sh" git rebase -i HEAD~2`, until: "input", want: "pick [0-9a-f]{7} third", stamp: "edit-1"},
			{typed: ":2s/^pick/squash/|wq", until: "input", want: "combination of 2 commits", stamp: "edit-2"},
			{typed: ":wq", until: "end", want: "Successfully rebased"},
		}},
		{name: "npm-init", steps: append([]step{
			{run: "npm init --no-update-notifier", until: "input", want: "package name:"},
			{typed: "demo", until: "input", want: "version:"}, {typed: "1.0.1", until: "input", want: "description:"},
			{typed: "a demo", until: "input", want: "entry point:"}, {typed: "index.js", until: "input", want: "test command:"},
			{typed: "true", until: "input", want: "git repository:"}, {typed: "none", until: "input", want: "keywords:"},
			{typed: "x", until: "input", want: "author:"}, {typed: "me", until: "input", want: "license:"},
			{typed: "MIT", until: "input", want: "type:|Is this OK"},
		}, npmEnd(ctx)...)},
		{name: "test-watch", steps: []step{
			{run: "sh ../watch.sh", interactive: true, until: "text", want: "PASS 3 tests", stamp: "passed"},
			{fault: "source", until: "text", want: "expected 2, got 3", stamp: "failed"},
			{keys: []string{"C-c"}, until: "end", stamp: "stopped"},
		}},
		{name: "server-crash", steps: []step{{run: "sh ../slow.sh 12", until: "end", want: crashed, stamp: "end-12", fault: "crash"}}},
		{name: "agent-restart", steps: []step{{run: "sh ../slow.sh 12", until: "end", want: crashed, stamp: "end-12", fault: "restart"}}},
	}
}

// repository creates a git repository with three commits.
func repository(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-ec", `git init -q .; git config user.name a; git config user.email a@example.org
for m in first second third; do echo $m >$m; git add $m; git commit -q -m $m; done`)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make a repository: %w: %s", err, out)
	}
	return nil
}
