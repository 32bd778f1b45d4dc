package policy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// composer generates lines from wrappers, payloads and quotings. The effect of a line is known from its construction:
// every part runs what it is given.
type composer struct {
	r    *rand.Rand
	real bool // only what can be run in a scratch directory without a terminal
}

func (c *composer) pick(list []string) string { return list[c.r.IntN(len(list))] }

// word quotes a word in one of the shell's ways.
func (c *composer) word(s string) string {
	plain := s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=+,%@") == ""
	single := "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	switch c.r.IntN(7) {
	case 0, 1:
		if plain {
			return s
		}
		return single
	case 2:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s) + `"`
	case 3:
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		}
		return "$'" + b.String() + "'"
	case 4:
		if len(s) > 1 && plain {
			at := 1 + c.r.IntN(len(s)-1)
			return s[:at] + c.pick([]string{"''", `""`, "$''"}) + s[at:]
		}
	case 5:
		if plain && len(s) > 0 {
			return `\` + s
		}
	}
	return single
}

func (c *composer) words(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = c.word(a)
	}
	return strings.Join(out, c.pick([]string{" ", "  ", "\t", " \\\n"}))
}

// prefixes are wrappers that are given the words of a command.
var (
	prefixes = []string{"env", "env A=b", "env -i PATH=/usr/bin:/bin", "nice", "nice -n 5", "nohup", "timeout 5", "timeout -k 1 -s KILL 5",
		"setsid -w", "stdbuf -oL", "command", "env --", "timeout --foreground 5s", "ionice -c 3", "env -u HOME", "xargs", "env -S env"}
	unrunnable = []string{"sudo", "sudo -n -u root", "doas", "busybox", "strace -f", "firejail", "taskset -c 0", "chroot /mnt",
		"unshare -r", "flock /tmp/l", "systemd-run --user", "watch -n 1 -x", "unbuffer", "su-exec root", "nsenter -t 1 -m",
		"docker exec x", "uv run", "poetry run", "setarch x86_64", "torsocks", "xvfb-run", "script -q x -c"}
)

// around lists ways to write a list of commands: T is replaced by text, Q by text quoted as one word, N by a name that
// is not used elsewhere.
var (
	around = []string{"T", "( T )", "{ T; }", "if true; then T; fi", "if false; then :; else T; fi", "for N in 1; do T; done",
		"while :; do T; break; done", "until T; do break; done", "case x in x) T;; esac", "true && { T; }", "false || { T; }",
		": ; T", "! { T; }", "N() { T; }; N", "function N { T\n}\nN", "x=$( T )", "echo \"$( T )\"", ": `T2`", "cat <( T )",
		"[[ -n $( T ) ]]", ": ${N:-$( T )}", "N=Q; eval \"$N\"", "eval Q", "bash -c Q", "bash -c Q", "bash -ec Q x y", "bash <<'E'\nT\nE",
		"bash <<< Q", "echo Q | bash", "printf '%s\\n' Q | bash", "cat <<'E' | bash\nT\nE", "bash < <(echo Q)", ". <(echo Q)",
		"source /dev/stdin <<< Q", "trap Q EXIT", "{ T; } 2>&1 | cat", "true | { T; }", "( T ) & wait", "env bash -c Q",
		"timeout 9 bash -c Q", "exec bash -c Q", "find . -maxdepth 0 -exec bash -c Q ';'", "echo x | xargs -I{} bash -c Q",
		"bash -c 'eval \"$1\"' x Q", "bash -c '\"$@\"' x bash -c Q", "coproc { T; }; wait", "set -- bash -c Q; \"$@\"", "N=(bash -c Q); \"${N[@]}\"",
		"python3 -c 'import os,sys; os.system(sys.argv[1])' Q", "awk 'BEGIN{system(ARGV[1])}' Q", "T # comment", "exec <<< Q; bash",
		"echo Q > ./N.sh; bash ./N.sh", "N=bash; $N -c Q", "printf -v N %s Q; eval \"$N\"", "PROMPT_COMMAND=; T", "time { T; }",
		"mapfile -t N < <(echo Q); eval \"$(printf '%s\\n' \"${N[@]}\")\"", "IFS= read -r -d '' N <<< Q; eval \"$N\"", "declare N=Q; eval \"$N\"",
		"N() { eval \"$1\"; }; N Q", "N() { \"$@\"; }; N bash -c Q", "exec 3<<< Q; bash <&3", "bash /dev/fd/3 3<<< Q", "bash -c \"$(cat <<< Q)\"",
		"bash -c \"$(printf %s Q)\"", "eval \"$(echo Q)\"", "N=$(echo Q); bash -c \"$N\"", "echo Q | (IFS= read -r -d '' N; eval \"$N\")",
		"echo Q | tee /dev/null | bash", "echo Q | cat | cat - | bash -s", "perl -e 'system($ARGV[0])' Q", "perl -e 'exec @ARGV' bash -c Q",
		"python3 -c 'import subprocess,sys; subprocess.run(sys.argv[1],shell=True)' Q", "find . -maxdepth 0 -exec bash -c 'eval \"$1\"' x Q ';'",
		"printf '%s\\0' Q | xargs -0 -n1 bash -c", "git -c alias.z='!f() { eval \"$1\"; }; f' z Q", "env N=Q bash -c 'eval \"$N\"'",
		"N=Q bash -c 'eval \"$N\"'", "export N=Q; bash -c 'eval \"$N\"'", "N=Q; bash -c \"$N\"", "set -- Q; eval \"$1\"", "set -- x Q; shift; eval \"$1\"",
		"N=(x Q); eval \"${N[1]}\"", "declare -A N=([k]=Q); eval \"${N[k]}\"", "NN=Q; N=NN; eval \"${!N}\"", "declare -n NN=N; N=Q; eval \"$NN\"",
		"cat <<'E' > N.sh; source ./N.sh\nT\nE", "bash -c -- Q", "bash -O extglob -c Q", "bash +x -c Q", "bash -o pipefail -c Q", "env -S 'bash -c' Q",
		"env -C . bash -c Q", "for N in Q; do eval \"$N\"; done", "N=([0]=$( T ))", "cat < <( T )", "command eval Q", "builtin eval Q",
		"command -p bash -c Q", "( exec -a x bash -c Q )", "$'bash' -c Q", "b''ash -c Q", "/bin/bash -c Q", "/bi?/bash -c Q", "bash -c Q |& cat",
		"python3 - Q <<'E'\nimport os,sys; os.system(sys.argv[1])\nE", "perl -e 'exec \"bash\",\"-c\",shift' Q",
		"awk 'BEGIN{while((ARGV[1] | getline l)>0) print l}' Q", "awk '/\"/{} END{system(ARGV[1])}' Q < /dev/null; awk 'BEGIN{system(ARGV[1])} # \"' Q",
		"find . -maxdepth 0 -execdir bash -c Q \\;", "sed -n '/x/b;1e true' /etc/hostname; T", "bash -c 'bash -c \"$0\"' Q", "{ cat <<< Q; } | bash",
		"N=; ${N:-eval} Q", "e\\val Q", "until ! { T; }; do break; done", "let 1+$( T >&2; echo 1 )", "{ echo Q >&3; } 3>&1 | bash",
		"exec 5> N.sh; echo Q >&5; exec 5>&-; bash N.sh", "trap -- Q EXIT; exit 0", "echo Q | bash /dev/stdin 2>/dev/null", "ulimit -c 0; T",
		"shopt -s expand_aliases; T", "hash -r; pushd . >/dev/null; T"}
	aroundUnrunnable = []string{"ssh host Q", "su -c Q", "tmux new -d Q", "watch Q", "parallel ::: Q", "nix-shell --run Q", "script -c Q x",
		"hyperfine Q", "zsh -c Q", "dash -c Q", "docker run x bash -c Q", "at now <<< Q", "kubectl exec x -- bash -c Q", "PROMPT_COMMAND=Q",
		"flock ./l -c Q", "busybox sh -c Q", "chronic bash -c Q", "ssh -o ProxyCommand=Q host", "systemd-run --user bash -c Q", "script -qc Q /dev/null",
		"screen -dm bash -c Q", "entr -s Q", "watchexec Q", "nsenter -t 1 bash -c Q", "podman exec x sh -c Q", "lxc exec x -- bash -c Q",
		"node -e 'require(\"child_process\").execSync(process.argv[1])' Q", "ruby -e 'system(ARGV[0])' Q", "php -r 'system($argv[1]);' Q",
		"rsync -e Q a b:", "git rebase -x Q HEAD~1", "git bisect run sh -c Q", "vim -c x '+!sh -c 1' ; T", "make SHELL=bash x; T", "gdb -batch -ex x; T",
		"expect -c 'spawn true'; T", "crontab - <<< '* * * * * true'; T", "tar cf x y --to-command=Q", "tar cf x --checkpoint=1 --checkpoint-action=exec=Q y"}
)

// text wraps text.
func (c *composer) text(t string) string {
	list := around
	if !c.real && c.r.IntN(4) == 0 {
		list = aroundUnrunnable
	}
	w := c.pick(list)
	if strings.Contains(w, "T2") {
		w = strings.ReplaceAll(w, "T2", strings.NewReplacer(`\`, `\\`, "`", "\\`", "$", `\$`).Replace(t))
		return w
	}
	if strings.HasPrefix(w, "zsh ") && strings.Contains(t, "[1]}") {
		w = "bash -c Q" // zsh counts from 1: that would be another element
	}
	if strings.Contains(t, "\nE") && strings.Contains(w, "'E'") {
		w = "T" // a here-document in a here-document ends it
	}
	if strings.Contains(t, "\n") && strings.Contains(w, "T #") || strings.HasSuffix(t, "& wait") && strings.HasPrefix(w, "until") {
		w = "T"
	}
	// After a here-document or a comment, the wrapper's closing part is on a separate line.
	closed := t
	if strings.Contains(t, "<<'E'") || strings.Contains(t, "#") || strings.HasSuffix(t, "& wait") {
		closed += "\n"
		w = strings.NewReplacer("T;;", "T\n;;", "T;", "T\n", "T )", "T)").Replace(w)
	}
	name := fmt.Sprintf("v%d", c.r.IntN(1000))
	quoted := "'" + strings.ReplaceAll(t, "'", `'\''`) + "'"
	var b strings.Builder
	for i := 0; i < len(w); i++ {
		boundary := (i == 0 || !isWord(w[i-1])) && (i+1 == len(w) || !isWord(w[i+1]) || w[i] == 'N')
		switch {
		case w[i] == 'T' && boundary:
			b.WriteString(closed)
		case w[i] == 'Q' && boundary:
			b.WriteString(quoted)
		case w[i] == 'N' && boundary && !strings.HasPrefix(w[i:], "NU"):
			b.WriteString(name)
		default:
			b.WriteByte(w[i])
		}
	}
	return b.String()
}

// line composes a line around the words of a command.
func (c *composer) line(argv []string) string {
	words := argv
	fixed := ""
	for range c.r.IntN(3) {
		p := c.pick(prefixes)
		if !c.real && c.r.IntN(3) == 0 {
			p = c.pick(unrunnable)
		}
		if p == "script -q x -c" || p == "command" || p == "xargs" && c.real || p == "env -S env" {
			break
		}
		words = append(strings.Fields(p), words...)
	}
	t := fixed + c.words(words)
	for range 1 + c.r.IntN(3) {
		t = c.text(t)
	}
	return t
}

// destroying are commands that hard denies; harmless ones it allows.
var (
	destroying = [][]string{{"rm", "-rf", "/"}, {"rm", "-r", "-f", "/etc"}, {"/bin/rm", "--recursive", "--force", "/usr"},
		{"mkfs.ext4", "/dev/sda1"}, {"dd", "if=/dev/zero", "of=/dev/nvme0n1"}, {"wipefs", "-a", "/dev/sdb"}, {"chmod", "-R", "777", "/"},
		{"find", "/", "-delete"}, {"shred", "-n1", "/dev/sda"}, {"blkdiscard", "/dev/vda"}, {"cp", "x", "/dev/sda"}, {"tee", "/dev/mmcblk0"},
		{"chown", "-R", "me", "/usr"}, {"rm", "-fr", "/home/me"}, {"sgdisk", "--zap-all", "/dev/sda"}}
	harmlessOnes = [][]string{{"rm", "-rf", "/tmp/build"}, {"rm", "-rf", "build"}, {"echo", "rm -rf /"}, {"ls", "-l", "/"}, {"touch", "a b"},
		{"mkdir", "-p", "x/y"}, {"git", "commit", "-m", "rm -rf / it's"}, {"grep", "-r", "mkfs", "."}, {"printf", "%s\n", "dd of=/dev/sda"},
		{"dd", "if=/dev/zero", "of=x.img", "count=1"}, {"find", ".", "-name", "*.o", "-delete"}, {"chmod", "-R", "u+w", "build"}, {"make", "test"},
		{"cp", "a", "b"}, {"tee", "out"}, {"mkfs.ext4", "x.img"}, {"sleep", "0"}, {"test", "-f", "x"}}
)

// FEATURES: R60 R61
func TestRandomLines(t *testing.T) {
	tier.Full(t)
	const each = 4000
	l := Line{Cwd: "/home/me/project", Home: "/home/me"}
	hard, deny, readonly := engineFor(t, "hard"), engineFor(t, "rule:deny touch"), engineFor(t, "readonly")
	c := &composer{r: rand.New(rand.NewPCG(13, 60))}
	asked, wrong := 0, 0
	bad := func(format string, args ...any) {
		if wrong++; wrong <= 25 {
			t.Errorf(format, args...)
		}
	}
	for range each {
		l.Text = c.line(destroying[c.r.IntN(len(destroying))])
		switch j := hard.Judge(l); j.Verdict {
		case Allow:
			bad("allowed: %q", l.Text)
		case Ask:
			asked++
		}
	}
	if asked > each*2/5 { // a third of the wrappers run unknown code before
		t.Errorf("%d of %d denials are only questions", asked, each)
	}
	quieted := asked
	asked = 0
	for range each {
		l.Text = c.line(harmlessOnes[c.r.IntN(len(harmlessOnes))])
		switch j := hard.Judge(l); j.Verdict {
		case Deny:
			bad("denied: %q: %s", l.Text, j.Why)
		case Ask:
			asked++
		}
	}
	if asked > each*2/5 {
		t.Errorf("%d of %d harmless lines need approval", asked, each)
	}
	for range each {
		l.Text = c.line([]string{"touch", "a b"})
		if j := deny.Judge(l); j.Verdict == Allow {
			bad("deny touch: allowed: %q", l.Text)
		}
		if j := readonly.Judge(l); j.Verdict == Allow {
			bad("readonly: allowed: %q", l.Text)
		}
	}
	t.Logf("%d lines; %d denials and %d harmless lines became questions; %d wrong", 3*each, quieted, asked, wrong)
}

// TestRandomLinesReallyRun checks that the engine sees what bash really does: a sample line that leaves the mark has
// run touch, and must need approval.
//
// FEATURES: R61
func TestRandomLinesReallyRun(t *testing.T) {
	tier.Full(t)
	bash := tier.Path(t, "bash")
	const sample = 400
	deny := engineFor(t, "rule:deny touch")
	c := &composer{r: rand.New(rand.NewPCG(72, 61)), real: true}
	dir := t.TempDir()
	mark := filepath.Join(dir, "MARK")
	payloads := [][]string{{"touch", "MARK"}, {"touch", "--", "MARK"}, {"/usr/bin/touch", "MARK"}, {"echo", "touch MARK"},
		{"printf", "%s", "touch MARK"}, {"test", "x", "=", "touch MARK"}}
	ran := 0
	for range sample {
		payload := payloads[c.r.IntN(len(payloads))]
		line := c.line(payload)
		_ = os.Remove(mark)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		cmd := exec.CommandContext(ctx, bash, "--norc", "-c", line)
		cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C"}
		cmd.WaitDelay = time.Second
		out, _ := cmd.CombinedOutput() // how it ends is not the point
		cancel()
		j := deny.Judge(Line{Text: line, Cwd: dir, Home: dir})
		_, err := os.Stat(mark)
		switch does := strings.HasSuffix(payload[0], "touch"); {
		case err == nil && j.Verdict == Allow:
			t.Errorf("touch ran, and was allowed: %q", line)
		case err == nil && !does:
			t.Errorf("touch ran, but should not have: %q", line)
		case does && j.Verdict == Allow:
			t.Errorf("touch is allowed: %q", line)
		case !does && j.Verdict == Deny:
			t.Errorf("there is no touch in it, and it was denied: %q: %s", line, j.Why)
		case does && err != nil:
			t.Logf("%q did not run: %s", line, out)
		}
		if err == nil {
			ran++
		}
	}
	t.Logf("%d of %d lines ran touch", ran, sample)
	if ran < sample/3 {
		t.Errorf("only %d of %d lines ran touch: the composer is at fault", ran, sample)
	}
}
