package programs

// tools are programs of daily building; their read-only subcommands have rows.
var tools = []Program{
	{Name: "docker,podman", Values: "-H -c -l --host --context --log-level --config", Stop: true,
		SubOnly: true},
	{Name: "nerdctl", Values: "-H -n -a --host --address --namespace --snapshotter --cni-path --data-root --cgroup-manager", Stop: true, SubOnly: true},
	{Name: "docker ps,docker logs,docker images,docker inspect,docker version,docker info,docker top,docker " +
		"stats,docker port," +
		"docker diff,docker history,docker events,docker compose ps,docker compose logs,docker image ls," +
		"docker container ls," +
		"docker volume ls,docker network ls,podman ps,podman logs,podman images,podman inspect,podman " +
		"version,podman info",
		Reads: true, Values: "-n -f --format --filter --tail --since"},
	{Name: "docker build", Values: "-t -f --build-arg --tag --file --target --platform --label --secret"},
	{Name: "packer,stack,opam,dune,cabal", Stop: true, SubOnly: true},
	{Name: "docker compose", Values: "-f -p --file --project-name", Stop: true, SubOnly: true},
	{Name: "kubectl,oc", Values: "-n --namespace --context --kubeconfig -s", Stop: true, SubOnly: true},
	{Name: "kubectl get,kubectl describe,kubectl logs,kubectl version,kubectl explain,kubectl top,kubectl " +
		"api-resources," +
		"kubectl config view,kubectl config current-context,kubectl cluster-info", Reads: true, Values: "-n " +
		"-o -l -c -f",
		Unsafe: "--kubeconfig --profile --profile-output --server -s --insecure-skip-tls-verify"},
	{Name: "go", OneDash: true, Stop: true, Values: "-C", Unsafe: "-C", SubOnly: true},
	{Name: "go version,go env,go help,go doc", OneDash: true, Reads: true, Unsafe: "-w -u -http"},
	{Name: "go list", OneDash: true, Reads: true, Values: "-f -tags -mod", Shell: "-toolexec",
		Unsafe: "-toolexec -export -exec -compiled -u -mod -overlay -modfile -C"},
	{Name: "go test,go build,go run,go vet,go install,go generate,go get", OneDash: true,
		Shell: "-exec -toolexec -vettool", Values: "-run -bench -count -timeout -o -tags -ldflags -gcflags " +
			"-coverprofile -mod -p", Writes: "-o"},
	{Name: "go mod,go work,go clean,go fmt,go fix,go tool", OneDash: true},
	{Name: "cargo,rustup", Stop: true, SubOnly: true, Values: "--config -Z -C", Flags: "-q --quiet --offline --locked --frozen"},
	{Name: "cargo fmt,cargo build,cargo test,cargo check,cargo clippy,cargo run,cargo doc,cargo bench,cargo " +
		"clean,cargo install",
		Values: "-p --package --features --target"},
	{Name: "cargo tree,cargo search-local,cargo locate-project", Reads: true, Unsafe: "--config --manifest-path"},
	{Name: "npm test,npm run,npm start", Shell: "--script-shell", Values: "--prefix -w --workspace --loglevel"},
	{Name: "npm", Shell: "--script-shell", Flags: "-s --silent", Values: "--access --tag --prefix --registry -w --workspace " +
		"--loglevel --cache --userconfig"},
	{Name: "pip,pip3,pipx,gem,composer,mvn,gradle,ant,bazel,cmake,meson,configure,ctest," +
		"tox,pytest,jest," +
		"eslint,tsc,prettier,webpack,vite,ruff,black,mypy,terraform,tofu," +
		"vagrant,brew,apt," +
		"apt-get,dnf,yum,pacman,zypper,apk,flatpak,port,winget,choco,scoop,aws,gcloud,az," +
		"heroku,vercel,fly,code"},
	{Name: "helm", Values: "-n -f --namespace --values --set --version --kube-context", Runs: "--post-renderer"},
	{Name: "ansible", Shell: "-a --args", Values: "-m -i -u -e -f -l -t --module-name --inventory"},
	{Name: "npx,bunx,pipx run,uvx", Values: "-p --package --from", Shell: "-c --call", Stop: true, Run: RunArgv},
	{Name: "npm ls,npm list,npm view,npm outdated,npm root,npm prefix,pip list,pip show,pip freeze,pip3 " +
		"list,pip3 show,pip3 freeze," +
		"pip check,brew list,brew info,gem list", Reads: true, Unsafe: "--log --logs-dir --registry --userconfig --globalconfig --proxy --https-proxy --index-url --extra-index-url -i " +
		"--find-links -f --trusted-host --config-settings --source"},
	{Name: "apt list,apt show,apt search,apt policy", Reads: true, Strict: true, Flags: "-a -v --installed --upgradable --upgradeable --all-versions --verbose " +
		"--manual-installed --names-only --full"},
	{Name: "dpkg", Reads: true, Strict: true, Shell: "--pre-invoke --post-invoke --status-logger", Need: "-l -L -s -S --list --listfiles --status --search", Unsafe: "-i -r -P " +
		"--install --remove --purge"},
	{Name: "rpm", Reads: true, Strict: true, Need: "-q --query", Values: "-E --eval --qf --queryformat --whatprovides --whatrequires",
		Flags: "-a -l -f -c -d -R --all --list --file --configfiles --docfiles --requires --provides --changelog --scripts --last --state --info --conflicts", Shell: "--pipe", Unsafe: "-E --eval -i -e -U -F --install --erase --upgrade"},
	{Name: "lerna exec,wsrun", Values: "--concurrency --scope --ignore", Run: RunShell},
	{Name: "lerna", Stop: true, SubOnly: true},
	{Name: "gh,glab", Stop: true, SubOnly: true, Values: "-R --repo"},
	{Name: "gh api,gh issue create,gh pr create,gh issue comment,gh pr comment,gh release create",
		Values: "-f -F -X -H --title --body -t -b"},
	{Name: "gh pr list,gh pr view,gh pr diff,gh pr status,gh pr checks,gh issue list,gh issue view,gh issue " +
		"status,gh repo view," +
		"gh run list,gh run view,gh release list,gh release view,gh auth status,gh status,gh search", Reads: true,
		Values: "-L -q -R --json --jq --limit --state --repo", Unsafe: "-w --web"},
	{Name: "hg,svn,bzr,fossil,jj,cvs", Stop: true, SubOnly: true, Values: "-R --config --cwd", Unsafe: "-R " +
		"--config --cwd"},
	{Name: "svn diff,svn commit,svn update,svn merge,svn switch,svn propedit,svn copy,svn import",
		Values: "-r -m -c -F", Runs: "--diff-cmd --diff3-cmd --merge-cmd --editor-cmd"},
	{Name: "svn info,svn status,svn log-local,jj log,jj status", Reads: true},
	{Name: "git-lfs,git-rm-merged,pre-commit,direnv-status,lazygit"},
	{Name: "convert,magick,mogrify,tex,latex,pdftex,pdflatex,xetex,xelatex,luatex,lualatex,latexmk"},
	{Name: "pandoc", Values: "-f -t -V -M -H -B -A -c --from --to --template --metadata-file --css --resource-path", Runs: "-F --filter --pdf-engine", Writes: "-o --output --log"},
	{Name: "groff,groffer,troff,gtroff,nroff,ditroff,pic,gpic", Values: "-m -T -P -L -d -r -f -F -M -I -w -W"},
	{Name: "just,task,mage,ninja,nmake", Values: "-f -C -j"},
	{Name: "bazel run,bazel test,bazel build", Shell: "--run_under --workspace_status_command"},
	{Name: "dialog,whiptail", Shell: "--prgbox --programbox"},
	{Name: "fetchmail", Values: "-f -u -p --fetchmailrc", Shell: "-m --mda --preconnect --postconnect --plugin --plugout"},
	{Name: "restic,rustic", Shell: "--password-command"},
	{Name: "borg", Shell: "--rsh"},
	{Name: "gem open", Shell: "-e --editor"},
	{Name: "dpkg-buildpackage,debuild", Shell: "-r --root-command --check-command --sign-command --hook-init"},
	{Name: "debsign", Values: "-k -e -m", Shell: "-p"},
	{Name: "nix eval,nix-instantiate", Code: "-E --expr", Lang: "console"},
	{Name: "longterm", Stop: true, SubOnly: true},
	{Name: "longterm ls,longterm list,longterm info,longterm wait,longterm jobs,longterm suggest,longterm commands," +
		"longterm version,longterm help,longterm approvals ls,longterm approvals show,longterm policy check,longterm policy show," +
		"longterm policy path,longterm policy test,longterm config get,longterm config path,longterm config check," +
		"longterm daemon status", Reads: true,
		Values: "-n --limit --since --before --for --timeout --label --session"},
	{Name: "longterm search", Reads: true, Values: "-n --limit --since --until --before --session", Unsafe: "--open"}, // an editor
	{Name: "longterm errors", Reads: true, Unsafe: "--open"},
	{Name: "longterm policy,longterm approvals,longterm config", Reads: true, None: true},
	{Name: "longterm output,longterm screen", Reads: true, Values: "--max-output --max-line --from --to --stream --at --format --since",
		Unsafe: "--reveal -o --output"},
	{Name: "longterm audit", Reads: true, Values: "-n --limit --session --since --kind --agent --verdict --anchor"},
	{Name: "longterm kill,longterm signal,longterm rm,longterm prune"},
	{Name: "longterm doctor", Reads: true, Unsafe: "--repair --terminal"},
	{Name: "watchexec", Values: "-w -e -i -f -s -p --shell", Stop: true, Run: RunShell},
	{Name: "tsc-watch,nodemon,reflex,air", Values: "-w -e -i", Shell: "-x --exec", Stop: true},
}

// network programs talk to others.
var network = []Program{
	{Name: "curl", Values: "-A -b -c -d -D -e -E -F -H -K -m -o -Q -r -T -u -U -w -x -X -Y -y -z --data " +
		"--header --request --url " +
		"--user --user-agent --max-time --cacert --form --config --proxy --data-raw --data-binary --upload-file",
		Writes: "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr"},
	{Name: "wget,wget2", Runs: "--use-askpass", Values: "-U -e -i -P -t -T -Q -A -R -D", Writes: "-O -o --output-document --output-file -a --rejected-log --save-cookies"},
	{Name: "aria2c", Values: "-d -j -x -s -i --dir", Writes: "-o --out -l --log --save-session", Runs: "--on-download-start --on-download-complete --on-download-error " +
		"--on-download-stop --on-download-pause --on-bt-download-complete"},
	{Name: "plink,pscp", Values: "-P -l -pw -i -m", Shell: "-proxycmd", OneDash: true, Stop: true, Run: RunShell, Skip: 1},
	{Name: "axel,http,https,xh,lynx,w3m,links,elinks", Writes: "-o"},
	{Name: "nc,ncat,netcat", Values: "-p -s -w -q -i -X -x", Shell: "-c --sh-exec -e --exec"},
	{Name: "socat", Values: "-L -W -lf"},
	{Name: "openssl", OneDash: true, Values: "-in -inkey", Loads: "-engine -provider -provider-path", Writes: "-out -keyout -writerand"},
	{Name: "gpg,gpg2", Values: "-r -u -N --recipient --local-user --homedir --options --keyserver --passphrase",
		Writes: "-o --output"},
	{Name: "dig,nslookup,host,ping,ping6,traceroute,mtr,whois,rclone,s3cmd," +
		"redis-cli," +
		"xsltproc"},
	{Name: "ssh-keygen", Values: "-b -C -f -t -N -m -O -P -s -I -n -V -z -E -F -R -Y", Loads: "-D -w"},
	{Name: "ssh-add", Values: "-t -T -h -H -E", Loads: "-s -S -e"},
	{Name: "tcpdump", Values: "-i -r -c -s -G -C -W -F", Runs: "-z", Writes: "-w"},
	{Name: "tshark,dumpcap", Values: "-i -r -c -s -f -Y -R -b -a -T -e -z -B -y -d -o -N", Writes: "-w"},
	{Name: "check_log", Values: "-F -q", Writes: "-O"},
	{Name: "varnishncsa,varnishlog", Values: "-f -F -g -i -I -L -n -N -P -q -t -x -X", Writes: "-w"},
}

// system programs manage the machine.
var system = []Program{
	{Name: "systemctl", Reads: true, Need: "status show list-units list-unit-files is-active is-enabled " +
		"is-failed cat list-timers " +
		"list-sockets list-dependencies", Values: "-t -p -n -H -M -o --type --property --lines --output --state --host --machine",
		Strict: true, Unsafe: "-H -M --host --machine", Flags: "-a -l -q -r --all --full --quiet --no-pager --no-legend --plain --user --system " +
			"--failed --value --with-dependencies --reverse --after --before --recursive --legend"},
	{Name: "pkill", Values: "-u -U -g -G -P -s -t -F -c -r -q --euid --uid --pgroup --group --parent --session --terminal --pidfile " +
		"--signal --ns --nslist --runstates --queue --cgroup", Flags: "--full --exact --ignore-case --newest --oldest --inverse"},
	{Name: "killall", Values: "-s -u -o -y -Z -n --signal --user --older-than --younger-than --context --ns",
		Flags: "--exact --ignore-case --process-group --interactive --quiet --regexp --verbose --wait"},
	{Name: "kill,service,mount,umount,passwd,useradd,userdel,usermod,groupadd,visudo,chsh," +
		"crond,insmod,rmmod,modprobe," +
		"nft,ufw,ifconfig,route,tc,wg,wg-quick,swapoff,shutdown,reboot,halt,poweroff,init,telinit," +
		"loginctl,lp,lpr,xdg-open," +
		"open,fuser,renice,updatedb,logger,wall,write,mesg,xclip,xsel,pbcopy,pbpaste,notify-send," +
		"htop,btop,ncdu"},
	{Name: "logrotate", Values: "-s --state -l --log", Runs: "-m --mail"},
	{Name: "run-parts", Values: "-a -u --arg --umask --regex"},
	{Name: "agetty", Values: "-o -a -I -t -H -f", Runs: "-l --login-program"},
	{Name: "openvpn", Shell: "--up --down --route-up --route-pre-down --ipchange --tls-verify --auth-user-pass-verify --client-connect --client-disconnect --learn-address"},
	{Name: "dnsmasq", Values: "-C -r -p --port --conf-file", Shell: "--conf-script", Runs: "--dhcp-script"},
	{Name: "dhclient", OneDash: true, Values: "-cf -lf -pf -p -e", Runs: "-sf"},
	{Name: "udhcpc,wpa_cli,hostapd_cli,dhcpcd", Values: "-i -p", Runs: "-s -a --script"},
	{Name: "iptables,ip6tables,ebtables", Values: "-t -A -I -D -N -P -p -s -d -i -o -j -m --dport --sport", Runs: "--modprobe -M"},
	{Name: "ldconfig", Reads: true, Need: "-p", Unsafe: "-f -r -n -l", Writes: "-C"},
	{Name: "update-alternatives,alternatives", Values: "--altdir --admindir --instdir --log"},
	{Name: "dpkg-divert", Values: "--divert --package --admindir --instdir --root"},
	{Name: "sshfs,curlftpfs,s3fs,gcsfuse,davfs2,mount.nfs,mount.cifs,mount.davfs,ntfs-3g,mount.ntfs-3g,guestmount,afpfs,glusterfs,goofys", Values: "-o -p -F -t"},
	{Name: "bindfs", Values: "-o -u -g -p -m --map --force-user --force-group --perms --mirror"},
	{Name: "ddclient,ddate,ddrescue-log,format"},
}

// windows programs, and cmdlets under the names that they are typed with, in lower case.
var windows = []Program{
	{Name: "reg,sc,bcdedit,vssadmin,wmic,diskpart,takeown,icacls,schtasks,net,netsh,taskkill,robocopy,xcopy"},
}
