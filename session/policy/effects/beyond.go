package effects

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/damage"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// escapingEffects are commands with effects that no draft holds, which are no changes of files. The sandbox of a draft prevents these effects
// anyway, so the command would fail in it. Fields are as in effectRows.
var escapingEffects = []effectRow{
	{"git push|git pull|git fetch|git clone|git ls-remote|git remote update|git submodule update|git send-email", network},
	{"npm install|npm ci|npm update|npm publish|npm audit|npm login|npx|npm exec|bunx|uvx|pnpm install|pnpm add|pnpm update|pnpm dlx|yarn install|yarn add|yarn dlx|bun install|bun add", network},
	{"composer install|composer require|composer update|bundle install|bundle update|poetry install|poetry add|poetry update|uv pip|uv sync|uv add|gem install|gem push", network},
	{"pip install|pip3 install|pip download|pip3 download|pipx install|twine upload|cargo install|cargo publish|cargo add|cargo update|cargo fetch|go install|go get|brew", network},
	{"curl|wget|wget2|aria2c|axel|http|https|xh|lynx|w3m|links|elinks|nc|ncat|netcat|telnet|socat|ssh|mosh|autossh|scp|sftp|rsync|ftp|lftp|rclone|s3cmd", network},
	{"dig|nslookup|host|ping|ping6|traceroute|mtr|whois|nmap|tcpdump|mail|sendmail|mutt", network},
	{"gh|glab|aws|gcloud|az|heroku|vercel|fly|flyctl|netlify|doctl|kubectl|oc|helm|terraform|tofu|pulumi|cdk|ansible|ansible-playbook", network},
	{"psql|mysql|mariadb|mongosh|redis-cli|createdb|dropdb|pg_dump|pg_restore", "a database server"},
	{"docker|docker-compose|podman|buildah|nerdctl|ctr|vagrant|virsh", "containers or machines outside the draft"},
	{"systemctl|service|rc-service|launchctl|loginctl|dbus-send|gdbus|busctl|notify-send|xdg-open|open|ssh-add|gpg-agent|crontab|at|batch", "services of the machine"},
	{"kill|pkill|killall|tmux|screen|strace|gdb|renice|nsenter", "processes outside the draft"},
	{"sudo|doas|run0|pkexec|su|runuser|please|gosu|su-exec|setpriv|chroot", "the rights of another user"},
	{"apt|apt-get|aptitude|dpkg|rpm|dnf|yum|zypper|pacman|apk|snap|flatpak|useradd|userdel|usermod|groupadd|passwd|chsh|visudo|update-alternatives", "the system's files"},
	{"mount|umount|fusermount|sshfs|unshare|swapon|swapoff|losetup", "other mounts"},
	{"insmod|rmmod|modprobe|sysctl|iptables|nft|ufw|ip|shutdown|reboot|halt|poweroff|setcap", "the kernel or the machine"},
	{"longterm", "longterm itself"},
}

const network = "the network"

// EscapeReason returns why a draft does not hold all effects of a line, or "". All commands of the line count: those that need no approval
// run in the draft, too.
func EscapeReason(commands []policy.Command, d Draft) string {
	temporary := removesTemporary(commands)
	for i := range commands { // one that needs approval may run what an earlier command fetches
		c := parse(&commands[i])
		if c.Verdict != policy.Allow && !c.isFetch() && (len(c.Argv) == 0 || c.Argv[0] != ">") {
			d.fetchesNothing = true
		}
	}
	for i := range commands {
		c := parse(&commands[i])
		if why := c.escapeReason(&d, temporary); why != "" {
			return why
		}
	}
	return ""
}

// unknownTemporary is the word for a directory that mktemp makes.
const unknownTemporary = "/tmp/…"

// removesTemporary reports whether a line makes a temporary directory and removes it, so that nothing needs the private /tmp of its draft later.
func removesTemporary(commands []policy.Command) bool {
	makes, removes := false, false
	for i := range commands {
		argv := commands[i].Argv
		makes = makes || len(argv) > 0 && argv[0] == "mktemp"
		removes = removes || len(argv) > 2 && argv[0] == "rm" && argv[len(argv)-1] == unknownTemporary
	}
	return makes && removes
}

// escapeReason returns why a draft would not hold an effect of the command, or "". temporary is set if the line removes its temporary
// directory.
func (c *command) escapeReason(d *Draft, temporary bool) string {
	if len(c.Argv) == 0 {
		return ""
	}
	if c.Verdict == policy.Ask && !c.Draft {
		return fmt.Sprintf("rule %q requires an answer before %s runs", c.Rule, quote(c.Argv[:1]))
	}
	if c.Argv[0] == ">" && len(c.Argv) > 1 && strings.HasPrefix(c.Argv[1], "/dev/") && c.Verdict == policy.Ask {
		return quote(c.Argv[1:2]) + " is a device"
	}
	for _, a := range escapingEffects {
		if depth, ok := c.matches(a.of); ok && !c.onlyPrints() && !c.isHeld(d) {
			return quote([]string{strings.Join(append([]string{c.name}, c.words[:depth]...), " ")}) + " uses " + a.text
		}
	}
	for _, e := range damage.Effects(c.name, c.Argv[1:], &c.args) {
		if slices.Contains([]damage.Kind{damage.Disk, damage.Volume, damage.System, damage.Elsewhere, damage.Denies}, e.Kind) {
			if e.Kind == damage.Disk && c.isOnImages(d.Root) {
				continue
			}
			return strings.TrimPrefix(orElse(e.Why, "it destroys what is on a disk"), "it ") + " (" + quote(c.Argv[:1]) + ")"
		}
	}
	for _, w := range c.written() {
		if temporary && (w == unknownTemporary || strings.HasPrefix(w, unknownTemporary+"/")) && !strings.Contains(w, "..") {
			continue
		}
		if out := c.outside(w, d.Root); out != "" {
			return quote([]string{out}) + " is outside of " + d.Root
		}
	}
	return ""
}

// onlyPrints reports whether a command prints its version or help.
func (c *command) onlyPrints() bool { return len(c.Argv) == 2 && c.args.Has("--version", "--help") }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// written returns the words of c that name files which it changes.
func (c *command) written() []string {
	words := c.writtenOperands()
	if c.row == nil || c.Argv[0] == ">" {
		return words
	}
	for _, o := range c.args.Options {
		if o.HasValue && c.row.TakesOutputFile(o.Name) && o.Value != "-" {
			words = append(slices.Clip(words), o.Value)
		}
	}
	return words
}

// writtenOperands returns the operands of c that name files which it changes.
func (c *command) writtenOperands() []string {
	switch c.name {
	case "mv", "chmod", "chown", "chgrp", "touch", "mkdir", "rmdir", "rm", "unlink", "shred", "truncate", "tee":
		return c.args.Operands
	case "ln":
		return c.args.Operands[max(0, len(c.args.Operands)-1):]
	}
	if c.Argv[0] == ">" {
		return c.Argv[1:]
	}
	if c.row == nil {
		return nil
	}
	ops := c.args.Operands
	switch n := len(ops); c.row.WriteTo {
	case programs.AllOperands:
		return ops
	case programs.LastOperand:
		return ops[max(0, n-1):]
	case programs.FirstOperand:
		return ops[:min(1, n)]
	case programs.OperandsAfterFirst:
		return ops[min(1, n):]
	}
	return nil
}

// outside returns a word as a path if that leads out of a directory, else "".
func (c *command) outside(word, root string) string {
	switch {
	case word == "", strings.HasPrefix(word, "…"):
		return ""
	case word == "/dev/null", word == "/dev/stdout", word == "/dev/stderr", word == "/dev/tty":
		return ""
	case strings.HasPrefix(word, "~"):
		return word
	case !path.IsAbs(word) && c.Dir == "":
		return ""
	case !path.IsAbs(word):
		word = path.Join(c.Dir, word)
	}
	if rel, err := filepath.Rel(root, word); err == nil && filepath.IsLocal(rel) && (rel != "." || c.name != "rm" && c.name != "mv" && c.name != "rmdir") {
		return ""
	}
	return word
}
