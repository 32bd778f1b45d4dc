package policy

import "testing"

// TestReading_AsksAboutLookupsAndFetches checks that a name lookup or a fetch needs approval if its words are computed
// or name another machine, so that reading cannot send data out.
//
// FAULT: G16
func TestReading_AsksAboutLookupsAndFetches(t *testing.T) {
	checkKind(t, "readonly", Line{Cwd: "/home/me/project", Home: "/home/me"}, `
		getent hosts $(cat f).x
		getent ahosts "$(cat f).x"
		getent ahostsv4 "$X.example.com"
		getent hosts example.com
		cat f | getent hosts
		getent hosts < f
		getent ahosts <<< "$X"
		kubectl get --raw /x/$(cat f)
		kubectl get --raw "$(cat f)"
		kubectl get pods -l app=$(cat f)
		kubectl get pods --field-selector=metadata.name=$(cat f)
		kubectl get pod x-$(cat f)
		getent passwd $(cat f)
		getent $(cat f)
		xargs getent hosts < f
		while read l; do getent hosts "$l.x"; done < f
		for w in $(cat f); do getent hosts $w.x; done
		host $(cat f).x
		dig $(cat f).x
		nslookup x
		ping -c1 $(cat f).x
		traceroute x
		tracepath x
		whois $(cat f)
		resolvectl query $(cat f).x
		go list -m x/$(cat f)@latest
		go list -m example.com/x@latest
		go list -m -versions example.com/x
		go list -m -u all
		go list $(cat f)
		go doc x/$(cat f)
		npm view x-$(cat f)
		npm info "$X"
		npm outdated $(cat f)
		cat f | xargs npm view
		gem list -r $(cat f)
		gem list --remote x
		brew info $(cat f)
		pip index versions $(cat f)
		pip download x
		tar tf host:x
		tar tf user@host:/x
		tar tzf host:x.tgz
		tar -tf $(cat f):x
		tar -t --file=host:x
		tar tf $X
		gh repo view x/$(cat f)
		gh search code $(cat f)
		gh issue view $(cat f) -R x/y
		git ls-remote $(cat f)
		git fetch
		svn info http://x/$(cat f)
		xmllint http://x/a.xml
		rpm -qpi http://x/$(cat f).rpm
		ls /net/$(cat f)
		cat /net/$(cat f).x/y
		stat "/net/$X/y"
		cat < /dev/tcp/x/80
		diff <(curl x) y
		cargo search $(cat f)
		apt-get download x
		sh -c 'getent hosts $(cat f).x'
		X=$(cat f); npm view $X
	`, `
		getent passwd me
		getent group
		getent services ssh
		go list ./...
		go list -m all
		go list -m -json
		go doc net/http
		go version
		npm view react
		npm view react versions
		npm ls
		npm outdated
		pip list
		pip show x
		gem list
		brew list
		brew info x
		tar tf a.tar
		tar -tzf a.tgz
		tar tf ./a:b.tar
		tar tf a:b --force-local
		tar tvf /srv/x.tar
		for f in *.tar; do tar tf $f; done
		gh pr list
		gh pr view 1
		gh issue list
		apt show bash
		dpkg -S $(command -v ls)
		cat $(ls)
		head -5 "$X"
		xmllint --noout a.xml
		xmllint --noout --nonet http://x/a.xml
		ls /net
		hostname
	`)
}

// TestBuild_AsksAboutInstallingUsualNames checks that an install directory in PATH makes build's result a program that
// others run: under a usual name, or one that is unknown.
//
// FAULT: G16
func TestBuild_AsksAboutInstallingUsualNames(t *testing.T) {
	checkKind(t, "build", Line{Cwd: "/home/me/project", Home: "/home/me"}, `
		go install
		go install .
		go install ./
		go install ./...
		go install ./cmd/...
		go install ./cmd/ls
		go install ./cmd/git
		go install ./cmd/x ./cmd/sudo
		go install ./cmd/$X
		go install ./cmd/*
		go install example.com/x
		go install x
		GOBIN=~/bin go install ./cmd/x
		GOBIN=/usr/local/bin go install ./cmd/x
		go build -o ~/go/bin/ls .
		cargo install --path .
		stack build --copy-bins
		stack build --local-bin-path ~/bin
		npm install -g .
		pip install .
		cmake --install build
		cmake --build build --target install
		cmake --build build --target=install
		cmake --build build --target all install
		cmake --build build -t install
		cmake --build build -j4 -t install/strip
		cmake --build build -- install
		cmake -P build/cmake_install.cmake
		rake install
		rake install:local
		bundle exec rake install
		cp x ~/go/bin/ls
	`, `
		go install ./cmd/x
		go install -v ./cmd/x ./cmd/y
		go install -ldflags "-s -w" ./cmd/x
		go build ./...
		go build -o bin/x .
		stack build
		cargo build
		cmake --build build
		cmake --build build --target test
		cmake --build build -t all -j4
		cmake --build build --target test -- -j4
		cmake -S . -B install
		cmake -P build/check.cmake
		rake
		rake test
		bundle exec rake spec
	`)
}

// TestComputedCommand_IsUnknown checks that code that composes the command that it runs is unknown.
//
// FAULT: G16
func TestComputedCommand_IsUnknown(t *testing.T) {
	checkKind(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, `
		awk 'BEGIN{c="r" "m -rf /"; system(c)}'
		awk 'BEGIN{c=sprintf("%c%c -rf /",114,109); system(c)}'
		awk -v a=rm 'BEGIN{system(a " -rf /")}'
		awk '{system($0)}' f
		awk '{system("echo " $1)}' f
		awk '{print | $1}' f
		awk 'BEGIN{c=ARGV[1]; c | getline}' 'rm -rf /'
		awk 'BEGIN{system(substr("xrm -rf /",2))}'
		awk 'BEGIN{f="system"; @f("rm -rf /")}'
		ruby -e 'c=["r","m"].join; system(c, "-rf", "/")'
		ruby -e 'system("rm #{x}")'
		ruby -e 'x="mr".reverse; system(x+" -rf /")'
		ruby -e 'exec(*%w[rm -rf /])'
		ruby -e 'Kernel.send("sys"+"tem", "rm -rf /")'
		ruby -e 'spawn(ENV["X"])'
		tclsh <<< 'exec [string map {x r} xm] -rf /'
		tclsh <<< 'set c rm; exec $c -rf /'
		tclsh <<< 'exec {*}$argv'
		tclsh <<< 'exec sh -c $x'
		tclsh <<< 'eval exec [list r m]'
		tclsh <<< 'eval $x'
		tclsh <<< 'open "|$cmd"'
		tclsh <<< '[string reverse cexe] rm -rf /'
		echo 'exec $c' | tclsh
		expect -c 'spawn [join {r m} ""] -rf /; interact'
		expect -c 'set c rm; spawn $c -rf /'
		expect -c 'spawn sh; send "rm -rf /\r"'
		expect -c 'spawn sh; send $x\r'
		expect -c 'spawn sh; send [format %c%c 114 109]'
		expect -c 'exec sh -c $x'
		dc -e '!rm -rf /'
		dc -e '[!rm -rf /]x'
		dc -e '114 a 109 a x'
		dc -e '?'
		dc <<< '?x'
		nim --eval:'exec("rm -rf /")'
		nim --eval:'exec "r" & "m -rf /"'
		nim e --eval 'discard execShellCmd("r"&"m -rf /")'
		nim --eval='exec getEnv("X")'
		perl -e 'system(join "", "r","m -rf /")'
		perl -e 'system("echo $x")'
		php -r 'system(implode("",["r","m -rf /"]));'
		lua -e 'os.execute(("r").."m -rf /")'
		lua -e 'os.execute(string.char(114,109).." -rf /")'
		node -e 'require("child_process").execSync(["r","m -rf /"].join(""))'
		python3 -c 'import os; os.system("".join(["r","m -rf /"]))'
		guile -c '(system (string-append "r" "m -rf /"))'
		emacs --batch --eval '(shell-command (concat "r" "m -rf /"))'
		raku -e 'shell ["r","m -rf /"].join'
		elixir -e 'System.shell(Enum.join(["r","m -rf /"]))'
		Rscript -e 'system(paste0("r","m -rf /"))'
	`, `
		awk '{print $1}' f
		awk '{system("ls")}' f
		awk 'BEGIN{"date" | getline d; print d}'
		awk '{print $1 | "sort"}' f
		awk '{cmd="date"; cmd | getline d; close(cmd); print d, $0}' f
		ruby -e 'puts 1'
		ruby -e 'system("ls")'
		ruby -e 'puts "a #{x}"'
		tclsh <<< 'puts hi'
		tclsh <<< 'exec ls'
		tclsh <<< 'puts [exec date]'
		tclsh <<< 'set x 1; puts $x'
		expect -c 'puts hi'
		dc -e '2 3 + p'
		dc <<< '1 1 + p'
		dc -e '33P 114P'
		dc -e '5 sa la p'
		nim c x.nim
		nim r x.nim
		nim --eval:'echo 1'
		nim --eval:'exec("ls")'
		perl -e 'system("ls")'
		perl -e 'my $x=1; print "a $x"'
		php -r 'echo 1;'
		lua -e 'print(1)'
		node -e 'console.log(1)'
		python3 -c 'import subprocess; subprocess.run(["git", x])'
		guile -c '(system* "ls")'
		guile -c '(display (string-append "a" "b"))'
		raku -e 'say 1'
		elixir -e 'IO.puts 1'
	`)
}
