package policy

import (
	"strings"
	"testing"
)

// TestLaterAndPutTogether checks commands installed for later, commands assembled by vim, shells that only parse, and
// plain reading.
//
// FEATURES: R60 R61
func TestLaterAndPutTogether(t *testing.T) {
	l := Line{Cwd: "/home/me/project", Home: "/home/me"}
	checkSpellings(t, "hard", l, []spelling{
		{"", "crontab jobs", Ask}, {"", "crontab -u bob jobs", Ask}, {"", "crontab -- jobs", Ask}, {"", "crontab <(echo x)", Ask}, {"", "crontab -l", Allow},
		{"", "crontab -u bob -l", Allow}, {"", "crontab -l | grep -v x | crontab -", Allow}, {"", "echo '* * * * * rm -rf /' | crontab -", Deny},
		{"", `vim -c 'let x="!rm -rf /"' -c 'exe x'`, Ask}, {"", `vim -c 'let x="!rm"' -c 'execute x . " -rf /"'`, Ask}, {"", `vim -es -c 'sil exe "!" . x'`, Ask},
		{"", `vim -c 'let F=function("system")' -c 'call F("rm -rf /")'`, Ask}, {"", `vim -c 'call feedkeys(x)'`, Ask}, {"", `vim -c 'call execute(@a)'`, Ask},
		{"", `vim -c 'exe x' f`, Ask}, {"", `vim -c 'exe "normal gg"' -c wq f`, Allow}, {"", `vim -c 'exe 1' f`, Allow}, {"", `vim -es -c '%s/exe a/b/' -c wq f`, Allow},
		{"", `vim -c 'set shell=rm' -c '!-rf /'`, Ask}, {"", `vim -c 'let &shell="rm -rf / #"' -c '!x'`, Ask}, {"", `vim -c 'let c="rm"' -c 'call system(c)'`, Ask},
		{"", `vim -c 'call job_start(c)'`, Ask}, {"", `vim -c 'norm! :!rm -rf /^M'`, Ask}, {"", `vim -c 'au BufRead * !rm -rf /'`, Ask}, {"", `vim -c 'command! X !rm -rf /' -c X`, Ask},
		{"", `vim -c 'nnoremap x :!rm -rf /<CR>'`, Ask}, {"", `vim -c 'cabbr x !rm -rf /'`, Ask}, {"", `vim -c 'set shiftwidth=4 nu'`, Allow}, {"", `vim -c 'nnoremap x :!make<CR>'`, Allow},
		{"", `vim -c 'au BufRead * set nu'`, Allow}, {"", `vim -es -c 'call system("make")' -c q`, Allow}, {"", `vim -es -c '%s/a/b!/' -c wq f`, Allow},
		{"fish", "set -l a rm; set -a a -rf /; $a", Deny}, {"fish", "set -l a -rf /; set -p a rm; $a", Deny}, {"fish", "set -l a ls; set -a a -l; $a", Allow},
		{"", "BASH_CMDS[ls]=/bin/rm; ls -rf /", Deny}, {"", "BASH_ALIASES[ls]='rm -rf /'; ls", Deny}, {"", "BASH_ALIASES[ll]='ls -l'; ll", Allow},
		{"", "xargs -a <(echo -rf /) rm", Deny}, {"", "xargs -a <(echo a.o) rm", Allow}, {"", "perl -MExtUtils::Command -e rm_rf /", Ask}, {"", "perl -MExtUtils::Command -e rm_rf build", Allow},
		{"", "ruby -run -e rm -- -r /", Ask}, {"", "ruby -run -e rm -- -r build", Allow},
		{"", "bash -n script.sh", Allow}, {"", "sh -n ./x", Allow}, {"", "bash -n -i x.sh", Ask}, {"", "bash -n +n x.sh", Ask}, {"", "bash -n -c 'rm -rf /'", Deny},
		{"", "bash -nx x.sh", Ask}, {"", "fish -n x", Ask}, {"", "bash x.sh", Ask},
		{"", "busybox rm -rf /", Deny}, {"", "busybox sh -c 'rm -rf /'", Deny}, {"", "toybox rm -rf /", Deny}, {"", "busybox ls", Allow}, {"", "busybox ash -c ls", Allow},
		{"", "busybox find / -delete", Deny}, {"", "toybox xargs rm -rf /", Deny}, {"", "echo 'rm -rf /' | busybox sh", Deny},
	})
	checkSpellings(t, "build", l, []spelling{
		{"", "mount", Allow}, {"", "mount -l", Allow}, {"", "mount /mnt", Ask}, {"", "watch -n 5 date", Allow}, {"", "watch -n 5 'curl x'", Ask}, {"", "watch rm x", Ask},
		{"", "DEBUG=1 npm start", Allow}, {"", "DEBUG=app:x npm start", Allow}, {"", "DEBUG=/tmp/x npm start", Ask}, {"", "bash -n script.sh", Allow}, {"", "bash script.sh", Ask},
	})
	e := engineFor(t, "hard")
	for line, why := range map[string]string{"echo x >> /etc/hosts": whyAdds, "echo x | sudo tee -a /etc/hosts": whyAdds, "echo x > /etc/hosts": whyOverwrites, "echo x | tee /etc/hosts": whyOverwrites} {
		l.Text = line
		if j := e.Judge(l); j.Verdict != Ask || j.Why != why {
			t.Errorf("%s: %s, %s", line, j.Verdict, j.Why)
		}
	}
}

// TestScriptsOfShellsWithApplets checks that scripts of a multi-call shell need approval, because it runs its applets
// without executing them.
//
// FEATURES: R107
func TestScriptsOfShellsWithApplets(t *testing.T) {
	e := engineFor(t, "hard")
	for line, want := range map[string]Verdict{
		"/bin/busybox sh ./x": Ask, "/usr/bin/toybox ash ./x": Ask, "/bin/busybox ls": Allow, "/bin/busybox sh -c ls": Allow, "/bin/busybox rm -rf /": Deny, "/bin/busybox sh": Allow,
	} {
		argv := strings.Fields(line)
		j := e.JudgeArgv(argv[0], argv, Line{Cwd: "/home/me/project", Home: "/home/me"})
		if j.Verdict != want {
			t.Errorf("%s: %s (%s)", line, j.Verdict, j.Why)
		}
		if line == "/bin/busybox sh ./x" && j.Rule != "hard:applets" { // unknown options of a script's interpreter need no approval
			t.Errorf("%s: %s", line, j.Rule)
		}
	}
	if j := e.JudgeArgv("/bin/busybox", []string{"rm", "-rf", "/"}, Line{}); j.Verdict != Deny {
		t.Errorf("called by a link: %s", j.Verdict)
	}
}
