package policy

import (
	"slices"
	"strings"
	"sync"
)

// Risk is the maximum effect of a command.
type Risk string

// The risks, from the smallest to the largest.
const (
	Reads     Risk = "reads"     // it only reads
	Writes    Risk = "writes"    // it changes files or state of the user
	Network   Risk = "network"   // it talks to other machines
	Unknown   Risk = "unknown"   // it is not known what it does
	Privilege Risk = "privilege" // it acts as another user, or on the machine as a whole
	Destroys  Risk = "destroys"  // it removes or overwrites what cannot be had back
)

var riskOrder = map[Risk]int{"": 0, Reads: 1, Writes: 2, Network: 3, Unknown: 4, Privilege: 5, Destroys: 6}

// larger returns the higher of two risks.
func larger(a, b Risk) Risk {
	if riskOrder[b] > riskOrder[a] {
		return b
	}
	return a
}

// removePrograms, networkPrograms and privilegePrograms are programs by risk, with subcommands if only those have it.
var (
	removePrograms = fieldSet("rm rmdir unlink shred srm wipe dd wipefs blkdiscard mkfs fdisk sfdisk sgdisk truncate " +
		"mkswap|git clean|git reset|git push --force|git push -f|git branch -D|git filter-branch|git stash drop|" +
		"git stash clear|docker rm|docker rmi|docker system prune|docker volume rm|kubectl delete|oc delete|" +
		"terraform destroy|tofu destroy|helm uninstall|dropdb|gh repo delete")
	networkPrograms = fieldSet("curl wget wget2 aria2c axel http https xh lynx w3m links elinks nc ncat netcat telnet socat ssh " +
		"mosh autossh scp sftp rsync dig nslookup host ping ping6 traceroute mtr whois nmap rclone s3cmd ftp lftp mail " +
		"sendmail mutt gh glab aws gcloud az heroku vercel fly npx bunx uvx tcpdump brew redis-cli mongosh|git push|" +
		"git pull|git fetch|git clone|git ls-remote|git remote update|npm install|npm ci|npm publish|npm update|" +
		"pip install|pip download|pip3 install|pipx install|uv pip|cargo install|cargo publish|go get|go install|" +
		"gem install|docker pull|docker push|docker login|podman pull|podman push|kubectl|helm|yarn add|pnpm add|" +
		"pnpm install|yarn install|composer install|bundle install|poetry install")
	privilegePrograms = fieldSet("sudo su doas run0 pkexec runuser please gosu su-exec setpriv chroot nsenter unshare mount umount " +
		"insmod rmmod modprobe useradd userdel usermod groupadd visudo passwd chsh iptables nft ufw shutdown reboot halt " +
		"poweroff init telinit setcap capsh swapon swapoff service apt apt-get dnf yum pacman zypper apk crontab at " +
		"chown chgrp|systemctl start|systemctl stop|systemctl restart|systemctl enable|systemctl disable|systemctl mask|" +
		"docker run --privileged|sysctl -w")
)

// wordSet is a set of words that is built at its first use: most runs of longterm judge nothing.
type wordSet func() map[string]bool

func (s wordSet) has(word string) bool { return s()[word] }

// fieldSet makes a set of words; entries after a "|" may have several.
func fieldSet(s string) wordSet {
	return sync.OnceValue(func() map[string]bool {
		first, rest, _ := strings.Cut(s, "|")
		m := map[string]bool{}
		for word := range strings.FieldsSeq(first) {
			m[word] = true
		}
		for entry := range strings.SplitSeq(rest, "|") {
			m[entry] = true
		}
		return m
	})
}

// isIn reports whether a set names the command, alone or with one of its first words.
func (x *invocation) isIn(set wordSet) bool {
	if set.has(x.name) {
		return true
	}
	for i := 1; i < len(x.words) && i <= 2; i++ {
		key := x.name + " " + strings.Join(x.words[1:i+1], " ")
		if set.has(key) {
			return true
		}
	}
	if len(x.words) > 2 {
		for _, o := range x.words[2:] {
			if strings.HasPrefix(o, "-") && set.has(x.name+" "+x.words[1]+" "+o) {
				return true
			}
		}
	}
	return false
}

// risk returns the risk of a command itself; commands that it runs have their own.
func (pr *presets) risk(c *Command, x *invocation) Risk {
	switch {
	case strings.HasPrefix(c.Rule, "hard:remove"), strings.HasPrefix(c.Rule, "hard:device"), x.isIn(removePrograms),
		strings.HasPrefix(x.name, "mkfs."):
		return Destroys
	case strings.HasPrefix(c.Rule, "hard:"), x.isIn(privilegePrograms):
		return Privilege
	case c.Rule == "unknown":
		return Unknown
	case x.isIn(networkPrograms):
		return Network
	case x.hasJudgedChildren && transparentWrappers.has(x.name):
		return Reads
	}
	if _, ok := pr.onlyReads(x); ok {
		return Reads
	}
	if x.row == nil || x.row.Lang != "" && x.row.Lang != "sed" && x.row.Lang != "awk" && !x.hasJudgedChildren {
		return Unknown
	}
	return Writes
}

// pseudoRisk returns the risk of what is not a program: a redirection, an assignment, unknown text.
func pseudoRisk(c *Command) Risk {
	switch {
	case c.Rule == "hard:device" || c.Rule == "hard:remove":
		return Destroys
	case strings.HasPrefix(c.Rule, "hard:"):
		return Privilege
	case c.Rule == "unknown":
		return Unknown
	case len(c.Argv) > 1 && c.Argv[0] == ">":
		if strings.HasPrefix(c.Argv[1], "/dev/tcp/") || strings.HasPrefix(c.Argv[1], "/dev/udp/") {
			return Network
		}
		return Writes
	}
	return Reads
}

// verdicts collects the commands and verdicts of a line.
type verdicts struct {
	at          *files
	commands    []Command
	changes     []Change
	worst       *Command // first command with the strictest verdict
	refused     *Command // first denied command, also if quiet
	highestRisk Risk
	quiet       bool // denials become approval requirements: the text is only perhaps run
}

// record adds a command with its verdict.
func (v *verdicts) record(c Command) {
	if c.Verdict == Ask && v.at.engine.exactlyAllowed(&c, v.at.cwd) && (v.at.cwd == v.at.root || v.at.engine.exactlyAllowed(&c, v.at.resolvedPath(v.at.cwd))) {
		c.Verdict = Allow
	}
	if c.Verdict == Deny && v.refused == nil {
		denied := c
		v.refused = &denied
	}
	if v.quiet && c.Verdict == Deny {
		c.Verdict = Ask
	}
	if c.Risk == "" {
		c.Risk = pseudoRisk(&c)
	}
	v.highestRisk = larger(v.highestRisk, c.Risk)
	shownArgv := make([]string, len(c.Argv))
	for i, a := range c.Argv {
		shownArgv[i] = displayMarks.Replace(a)
	}
	c.Argv = shownArgv
	c.Dir = v.at.cwd
	if c.Verdict == Allow {
		c.Rule, c.Why, c.Instead = "", "", ""
	}
	c.Draft = c.Verdict == Ask && v.at.engine.isDraft(&c)
	if v.worst == nil || c.Verdict > v.worst.Verdict {
		v.worst = &c
	}
	if len(v.commands) < MaxCommands {
		v.commands = append(v.commands, c)
	}
}

// unknown adds a part of the line that cannot be judged.
func (v *verdicts) unknown(argv []string, why string) {
	v.unknownFor(&Command{Argv: argv}, why, "write out what is to run")
}

// unknownFor records c as one that cannot be judged, and what to do instead.
func (v *verdicts) unknownFor(c *Command, why, instead string) {
	if v.at.engine.preset != Off || v.at.engine.denies {
		v.ask(c, "unknown", why)
		c.Instead = instead
	}
	v.record(*c)
}

// askAboutFile requires approval of a shell with a file of commands.
func (v *verdicts) askAboutFile(argv []string) {
	c := Command{Argv: argv, OfFile: !slices.ContainsFunc(argv, hasHole)}
	if v.at.engine.preset != Off || v.at.engine.denies {
		v.ask(&c, "unknown", "it runs commands from a file that is not judged")
		c.Instead = "write out what is to run"
	}
	v.record(c)
}

// ask raises a verdict to Ask. The built-in rules do not count in the preset Off.
func (v *verdicts) ask(c *Command, rule, why string) {
	if strings.HasPrefix(rule, "hard:") && v.at.engine.preset == Off || c.Verdict >= Ask {
		return
	}
	c.Verdict, c.Rule, c.Why = Ask, rule, why
}

// deny raises a verdict to Deny.
func (v *verdicts) deny(c *Command, rule, why, instead string) {
	if strings.HasPrefix(rule, "hard:") && v.at.engine.preset == Off || c.Verdict >= Deny {
		return
	}
	c.Verdict, c.Rule, c.Why, c.Instead = Deny, rule, why, instead
}

// asksOfFiles reports whether reading secrets and writing files needs approval.
func (e *Engine) asksOfFiles() bool { return e.preset == ReadOnly || e.preset == Listed }

// words is a blank-separated list, which costs nothing before its first use.
type words string

func (l words) has(word string) bool {
	for at := 0; word != ""; at++ {
		i := strings.Index(string(l[at:]), word)
		if i < 0 {
			return false
		}
		at += i
		if end := at + len(word); (at == 0 || l[at-1] == ' ') && (end == len(l) || l[end] == ' ') {
			return true
		}
	}
	return false
}
