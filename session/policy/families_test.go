package policy

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/policy/damage"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// damageLine is a line with damage of a row of the table; target is replaced by what it damages.
func damageLine(r damage.Row, program, target string) string {
	first := func(list string) string {
		word, _, _ := strings.Cut(strings.TrimSpace(list), " ")
		return strings.TrimSuffix(word, "*")
	}
	words := []string{program}
	if verb := first(r.Verbs); verb != "" {
		words = append(words, strings.ReplaceAll(strings.ReplaceAll(verb, "*", "subvolume"), "/", " "))
	}
	if with := first(r.With); with != "" {
		words = append(words, with)
	}
	if any := first(r.Any); any != "" {
		if program == "ruby" {
			words = append(words, "-e")
		}
		if program == "python" || program == "python3" || program == "pypy" {
			words = append(words, "-m")
		}
		words = append(words, any)
	}
	switch r.Of {
	case "all", "first":
		words = append(words, target, "x")
	case "last", "rest":
		words = append(words, "x", target)
	case "":
		words = append(words, "x")
	default:
		words = append(words, first(r.Of), target)
	}
	return strings.Join(words, " ")
}

// TestEveryRowOfDamagesIsProven checks that each row of the table of damages is covered by the rule.
//
// FEATURES: R60
func TestEveryRowOfDamagesIsProven(t *testing.T) {
	e := engineFor(t, "hard")
	n := 0
	damage.All(func(r damage.Row) {
		target := map[damage.Kind]string{damage.Disk: "/dev/sda", damage.Tree: "/usr", damage.Into: "/etc", damage.File: "/etc/shadow"}[r.Kind]
		for program := range strings.FieldsSeq(r.Programs) {
			line := damageLine(r, program, target)
			j := e.Judge(Line{Text: line, Cwd: "/home/me/project", Home: "/home/me"})
			if n++; j.Verdict == Allow {
				t.Errorf("allowed: %s", line)
			}
			if target == "" {
				continue
			}
			line = damageLine(r, program, "build")
			if j := e.Judge(Line{Text: line, Cwd: "/home/me/project", Home: "/home/me"}); j.Verdict != Allow && strings.HasPrefix(j.Rule, "hard:remove") {
				t.Errorf("%s (%s): %s", j.Verdict, j.Why, line)
			}
		}
	})
	if n < 150 {
		t.Errorf("%d rows", n)
	}
}

// TestVariablesThatProgramsTake checks that values which programs read from variables count like words of their line,
// and that unknown values need approval.
//
// FEATURES: R60 R61
func TestVariablesThatProgramsTake(t *testing.T) {
	e := engineFor(t, "hard")
	for use, value := range map[programs.Use]string{programs.AsText: "rm -rf /", programs.AsProgram: "/bin/rm", programs.AsOutput: "/etc/passwd",
		programs.AsCode: "/opt/x/y.so"} {
		for name := range strings.FieldsSeq(programs.VariableNames(use)) {
			name = strings.ReplaceAll(name, "*", "X")
			for _, line := range []string{name + "='" + value + "' git x", "env " + name + "='" + value + "' git x", "export " + name + "='" + value + "'; git x"} {
				if j := e.Judge(Line{Text: line, Cwd: "/home/me/project", Home: "/home/me"}); j.Verdict == Allow {
					t.Errorf("allowed: %s", line)
				}
			}
		}
	}
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", "GOFLAGS='-toolexec=rm -rf /' go test ./...", Ask}, {"", "X=/; GOFLAGS=-toolexec=\"rm -rf $X\" go test", Ask}, {"", "go env -w CC='rm -rf /'", Ask},
		{"", "MAKEFLAGS='--eval=$(shell rm -rf /)' make", Ask}, {"", "MFLAGS='--eval=$(shell rm -rf /)' make", Ask},
		{"", "JAVA_TOOL_OPTIONS='-XX:OnError=rm -rf /' mvn test", Ask}, {"", "CFLAGS='-fplugin=/opt/evil.so' make", Ask}, {"", "RUSTFLAGS='-C linker=rm' cargo build", Ask},
		{"", "TAR_OPTIONS='--to-command=rm -rf /' tar xf x", Ask}, {"", "ERL_FLAGS='-eval os:cmd(\"rm -rf /\")' erl", Ask}, {"", "XYZ='rm -rf /' ./x", Ask},
		{"", "GIT_CONFIG_GLOBAL=<(printf '[core]\\n\\tpager = rm -rf /\\n') git log", Ask},
		{"", "MSG='rm -rf / is bad' ./x", Allow}, {"", "COMMIT_MESSAGE='never rm -rf / again' make release", Allow}, {"", "X='a b c' ./x", Allow},
		{"", "GOFLAGS=-mod=mod go test ./...", Allow}, {"", "CFLAGS='-O2 -g' make", Allow}, {"", "CC=gcc-12 make", Allow}, {"", "HISTFILE=~/.hist bash -c ls", Allow},
		{"", "RUSTFLAGS='-C target-cpu=native' cargo build", Allow}, {"", "LD_LIBRARY_PATH=build ./x", Allow},
	})
}

// TestFilesThatTheMachineNeeds checks that critical files are protected from any program or code that is not known to
// leave them unchanged.
//
// FEATURES: R60
func TestFilesThatTheMachineNeeds(t *testing.T) {
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", "exiftool -filename=/etc/passwd x.jpg", Ask}, {"", "csplit -f /etc/passwd x 1", Ask}, {"", "vlc --sout '#standard{dst=/etc/passwd}' x", Ask},
		{"", "echo core > /proc/sys/kernel/core_pattern", Ask}, {"", "cat x > /proc/1/mem", Ask}, {"", "dd if=x of=/proc/77/mem", Ask},
		{"", "echo 1 > /sys/block/sda/device/delete", Ask}, {"", "cat x > /sys/firmware/efi/efivars/x", Ask}, {"", "echo x > /dev/watchdog", Ask},
		{"", `python3 -c 'open("/etc/passwd","w")'`, Ask}, {"", `python3 -c 'import os; os.remove("/etc/shadow")'`, Ask}, {"", `vim -c 'w! /etc/passwd' x`, Ask},
		{"", `psql -c "copy (select 1) to '/etc/passwd'"`, Ask}, {"", "sqlite3 x '.output /etc/passwd'", Ask}, {"", "ed -s x <<< $'w /etc/passwd\\nq'", Ask},
		{"", `node -e 'require("fs").renameSync("/etc","/x")'`, Ask}, {"", "vim -es -c 'w! /dev/sda' x", Ask},
		{"", "puppet resource file / ensure=absent force=true", Ask}, {"", "salt '*' file.remove /", Ask}, {"", "ansible all -m copy -a 'dest=/etc/passwd'", Ask},
		{"", "printf 'kernel.core_pattern=|/opt/x\\n' > /etc/sysctl.d/x.conf", Ask}, {"", "sysctl -p <(echo 'kernel.modprobe=/opt/x')", Ask},
		{"", "cat /etc/passwd", Allow}, {"", "grep root /etc/passwd", Allow}, {"", "awk -F: '{print $1}' /etc/passwd", Allow}, {"", "cp /etc/fstab /etc/fstab.bak", Allow},
		{"", `python3 -c 'print(open("/etc/passwd").read())'`, Allow}, {"", `node -e 'require("fs").readFile("/etc/passwd",(e,d)=>console.log(d))'`, Allow},
		{"", "sudo visudo -cf /etc/sudoers", Allow}, {"", "sudo vim /etc/fstab", Allow}, {"", "chsh -s /bin/bash", Allow}, {"", "docker run -v /etc/passwd:/etc/passwd:ro x", Allow},
		{"", "git commit -m 'read /etc/passwd'", Allow}, {"", "cat /proc/1/status", Allow}, {"", "echo 1 | sudo tee /proc/sys/net/ipv4/ip_forward", Allow},
		{"", "sqlite3 x '.output out.txt'", Allow}, {"", "dd if=/dev/zero of=x.img", Allow}, {"", "auditctl -w /etc/passwd -p wa", Allow},
	})
}

// TestDailyLinesOfBuilding checks that everyday lines in a project need no approval, and that similar harmful lines do.
//
// FEATURES: R61
func TestDailyLinesOfBuilding(t *testing.T) {
	checkSpellings(t, "build", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", "env", Allow}, {"", "env | grep X", Allow}, {"", "env curl x", Ask}, {"", "env -S 'curl x'", Ask},
		{"", "top", Allow}, {"", "htop", Allow}, {"", "top -b -n1", Allow}, {"", "htop -F x /etc", Ask},
		{"", "tar czf x.tgz dir", Allow}, {"", "tar xzf x.tgz", Allow}, {"", "tar xzf x.tgz -C out", Allow}, {"", "tar xzf x.tgz -C ..", Ask}, {"", "tar czf x.tgz ~/.ssh", Ask},
		{"", "tar xPzf x.tgz", Ask}, {"", "tar xf x -I ./y", Ask}, {"", "tar cf x y --to-command=ls", Ask}, {"", "tar cf host:x y", Ask}, {"", "tar cf x y --remove-files", Ask},
		{"", "tar cf x --checkpoint=1 --checkpoint-action=exec=ls y", Ask}, {"", "tar xf x.tgz -C .git/hooks", Ask}, {"", "curl x | tar xz", Ask}, {"", "tar cf x -T list", Ask},
		{"", "zip -r x.zip dist", Allow}, {"", "zip -rm x.zip dist", Ask}, {"", "zip x y -T -TT ls", Ask}, {"", "unzip x.zip -d out", Allow}, {"", "unzip x.zip -d ~", Ask},
		{"", "gzip x", Allow}, {"", "gzip -d /var/log/x.gz", Ask},
		{"", "git apply x.patch", Allow}, {"", "git apply --unsafe-paths x.patch", Ask}, {"", "git apply --directory=../x x.patch", Ask}, {"", "git rebase main", Allow},
		{"", "git rebase -x ls main", Ask}, {"", "git rebase --exec=ls main", Ask}, {"", "git bisect run ./x", Ask}, {"", "git worktree add wt", Allow}, {"", "git worktree add ../wt", Ask},
		{"", "git worktree remove wt", Ask}, {"", "git push", Ask}, {"", "git clean -fdn", Allow}, {"", "git clean -fd", Ask},
		{"", "source .venv/bin/activate", Allow}, {"", ". ./x", Allow}, {"", ". x", Ask}, {"", ". ../x", Ask}, {"", ". /tmp/x", Ask}, {"", ". ~/x", Ask},
		{"", "curl -sO https://x/y; . ./y", Ask}, {"", "echo ls > y; . ./y", Ask}, {"", "cp a y; . ./y", Ask}, {"", "exec 5> y; echo ls >&5; . ./y", Ask},
		{"", "kill %1", Allow}, {"", "kill -9 %1", Allow}, {"", "kill 1234", Ask}, {"", "kill -9 -1", Ask}, {"", "kill %1 1234", Ask}, {"", "bg", Allow},
		{"", ".venv/bin/python t.py", Allow}, {"", ".venv/bin/python ../t.py", Ask}, {"", "/tmp/bin/python t.py", Ask}, {"", ".venv/bin/pytest -q", Allow}, {"", ".venv/bin/curl x", Ask},
		{"", ".venv/bin/pip install x", Ask}, {"", "python3 -m venv .venv && source .venv/bin/activate", Allow}, {"", "python3 -m venv ~/x", Ask},
		{"", "sed -i s/a/b/ src/x.ts", Allow}, {"", "sed -i 's/a/b/e' src/x.ts", Ask}, {"", "sed -i s/a/b/ ../x.ts", Ask}, {"", "sed -i -f x.sed y", Ask}, {"", "sed -i 'w .git/hooks/x' y", Ask},
		{"", "patch -p1 < x.patch", Allow}, {"", "patch -d /etc -p1 < x", Ask}, {"", "ln -s a b", Allow}, {"", "ln -s / b", Ask}, {"", "ln -s ~/.ssh b", Ask},
		{"", "ASAN_OPTIONS=detect_leaks=1 ./x", Allow}, {"", "ASAN_OPTIONS=log_path=/home/me/.bashrc ./x", Ask}, {"", "LD_LIBRARY_PATH=build ./x", Allow}, {"", "LD_LIBRARY_PATH=/opt/evil ls", Ask},
		{"", `python3 -c 'print(1+1)'`, Allow}, {"", `python3 -c 'import sys; print(sys.version)'`, Allow}, {"", `python3 -c 'import torch; print(torch.cuda.is_available())'`, Allow},
		{"", `python3 -c 'import os; print(os.system("ls"))'`, Ask}, {"", `python3 -c 'print(open("x","w"))'`, Ask}, {"", `python3 -c 'print(__import__("os"))'`, Ask},
		{"", `python3 -c 'from os import system as print; print("ls")'`, Ask}, {"", `python3 -c 'import os as x; print(1)'`, Ask}, {"", `python3 -c 'print(f"{os.system(1)}")'`, Ask},
		{"", `python3 -c 'print((os.system)("ls"))'`, Ask}, {"", `python3 -c 'print([os.system][0]("ls"))'`, Ask}, {"", `python3 -c 'print=exec; print("x")'`, Ask},
		{"", `node -p 'process.version'`, Allow}, {"", `node -e 'console.log(1+1)'`, Allow}, {"", `node -e 'require("fs")'`, Ask}, {"", "node -e 'console.log(`x`)'", Ask},
	})
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", ". ./x", Allow}, {"", "source .env", Allow}, {"", "curl -sO https://x/y; . ./y", Ask}, {"", ". /opt/x", Ask}, {"", "echo 'rm -rf /' > y; . ./y", Deny},
	})
	s := (*State)(nil).After(Line{Text: "curl -sO https://x/y", Cwd: "/home/me/project", Home: "/home/me"}, RanFully)
	if j := engineFor(t, "hard").Judge(Line{Text: ". ./y", Cwd: "/home/me/project", Home: "/home/me", State: s}); j.Verdict != Ask {
		t.Errorf("a file that an earlier line may have fetched: %s", j.Verdict)
	}
}

// TestWhatRunsAtTheEnd checks traps and functions with the variables at the line's end, and also with the current ones
// if these are forbidden.
//
// FEATURES: R60 R61
func TestWhatRunsAtTheEnd(t *testing.T) {
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", `trap 'rm -rf "$tmp"' EXIT; tmp=$(mktemp -d)`, Allow}, {"", `cleanup() { rm -rf "$tmp"; }; trap cleanup EXIT INT TERM; tmp=$(mktemp -d)`, Allow},
		{"zsh", `trap 'rm -rf "$tmp"' EXIT; tmp=$(mktemp -d)`, Allow}, {"", `trap 'rm -rf "$tmp"' EXIT`, Ask}, {"", `f() { rm -rf "$tmp"; }`, Ask},
		{"", `tmp=/; trap 'rm -rf $tmp' INT; sleep 9; tmp=x`, Deny}, {"", `trap 'rm -rf $tmp' EXIT; tmp=/`, Deny}, {"", `f() { rm -rf $x; }; x=/`, Deny},
		{"", `trap 'rm -rf "$tmp"' DEBUG; tmp=/tmp/x`, Ask}, {"", `(trap 'rm -rf "$tmp"' EXIT; tmp=/tmp/x)`, Ask}, {"fish", `function f; rm -rf /; end`, Deny},
		{"", `f() { rm -rf /; }`, Deny}, {"", `x=rm; f() { x=ls; }; f; $x -rf /`, Ask}, {"", "f() { rm -rf $tmp; }\r\ntmp=/\r\n", Deny},
	})
}

// TestReadBehindAnAssignment checks that variables which a command with assignments sets itself stay set afterwards.
//
// FEATURES: R60
func TestReadBehindAnAssignment(t *testing.T) {
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", `find /etc -type f | while IFS= read -r f; do rm -f "$f"; done`, Ask}, {"", `find / -print0 | while IFS= read -r -d '' f; do rm "$f"; done`, Ask},
		{"", `x=/; x=/tmp/x eval 'y=2'; rm -rf $x`, Deny}, {"", `x=/tmp/a; x=/ eval 'y=2'; rm -rf $x`, Allow}, {"", `A=1 eval 'y=/'; rm -rf $y`, Deny},
		{"", `while IFS= read -r line; do echo "$line"; done < x`, Allow}, {"", `IFS=, read -r a b <<< x,y; rm -f "$a"`, Allow},
	})
}

// TestNumbersOfAllProcesses checks that the numbers of all processes are recognised wherever they are used, and are
// distinguished from those of some processes.
//
// FEATURES: R60
func TestNumbersOfAllProcesses(t *testing.T) {
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", "ps -eo pid= | xargs kill -9", Ask}, {"", "kill -9 $(ps -eo pid=)", Ask}, {"", "for p in $(ps -e -o pid=); do kill $p; done", Ask}, {"", "ps aux | awk '{print $2}' | xargs kill", Ask},
		{"", `ps -eo pid= | while read p; do kill "$p"; done`, Ask}, {"", `mapfile -t p < <(ps -eo pid=); kill "${p[@]}"`, Ask}, {"", "pgrep -u me | xargs kill", Ask}, {"", "ls /proc | grep '^[0-9]' | xargs kill", Ask},
		{"", "ps aux | grep node | awk '{print $2}' | xargs kill", Allow}, {"", "ps -eo pid,comm | awk '/node/ {print $1}' | xargs kill", Allow}, {"", "kill $(pgrep -u me node)", Allow},
		{"", "kill $(pgrep node)", Allow}, {"", "kill -9 $(lsof -ti :3000)", Allow}, {"", "kill $1 $2", Allow}, {"", "kill $(cat a.pid b.pid)", Allow}, {"", "ps -p 1 -o pid= | xargs kill", Allow},
	})
}

// TestFilesOfTheProjectThatTheLineWrites checks files that the line writes where a program of the project runs them.
//
// FEATURES: R60 R61
func TestFilesOfTheProjectThatTheLineWrites(t *testing.T) {
	e := engineFor(t, "hard")
	for file, program := range map[string]string{"package.json": "npm test", "justfile": "just", "Taskfile.yml": "task x", "Rakefile": "rake", ".envrc": "direnv allow", "build.gradle": "gradle x",
		"x.c": "gcc x.c", "build.rs": "cargo build", "x_test.go": "go test", "conftest.py": "pytest", "CMakeLists.txt": "cmake .", "Makefile": "make x", "p.yml": "ansible-playbook p.yml"} {
		for _, row := range []struct {
			text, after string
			want        Verdict
		}{{"x:\n\trm -rf /\n", program, Ask}, {"x:\n\trm -rf build\n", program, Allow}, {"x:\n\trm -rf /\n", "ls", Allow}} {
			if file == ".envrc" {
				row.text = row.text[2:]
			}
			if file == ".envrc" && row.after == "ls" {
				continue // needs approval where it is written
			}
			line := "cat > " + file + " <<'E'\n" + row.text + "E\n" + row.after
			if j := e.Judge(Line{Text: line, Cwd: "/home/me/project", Home: "/home/me"}); (j.Verdict != Allow) != (row.want != Allow) {
				t.Errorf("%s (%s), want %s: %s", j.Verdict, j.Why, row.want, line)
			}
		}
	}
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", "cat > NOTES.md <<'E'\nnever rm -rf / here\nE\nmake", Allow},
		{"", `echo 'require("fs").rmSync("/",{recursive:true})' > x.js; NODE_OPTIONS='--require ./x' npm test`, Ask},
	})
}

// TestHard_AsksAboutTheMachineAndOthers checks that commands that shut the machine down, cut its network, or destroy,
// publish or rewrite data elsewhere need approval by kind, in each way to run them.
//
// FEATURES: R61
func TestHard_AsksAboutTheMachineAndOthers(t *testing.T) {
	for line, rule := range map[string]string{
		"reboot": "hard:system", "sudo systemctl poweroff": "hard:system", "kill -9 1": "hard:system", "kill -s KILL 1": "hard:system",
		"iptables -F": "hard:system", "sh -c 'ip link set eth0 down'": "hard:system", "systemctl stop ssh.service": "hard:system",
		"echo x | xargs kubectl delete": "hard:elsewhere", "kubectl --context c delete ns x": "hard:elsewhere", "npm publish": "hard:elsewhere",
		"git -C sub push -f": "hard:elsewhere", "git push origin +main": "hard:elsewhere", "git push o :x": "hard:elsewhere",
		"echo 'drop table t' | psql": "hard:elsewhere", "mysql -e 'select 1; drop database x'": "hard:elsewhere",
		"docker compose down -v": "hard:device",
		"kill 12":                "", "git push": "", "git push -f ../bare main": "", "git push --force-with-lease": "", "npm publish --dry-run": "",
		"git commit -m push -f": "", "sqlite3 t.db 'drop table t'": "", "systemctl stop nginx": "", "terraform plan": "",
	} {
		j := engineFor(t, "hard").Judge(Line{Text: line, Home: "/home/me", Cwd: "/home/me/x"})
		if j.Rule != rule || (j.Verdict == Ask) != (rule != "") {
			t.Errorf("%s: %s (%s), want %q", line, j.Verdict, j.Rule, rule)
		}
	}
}
