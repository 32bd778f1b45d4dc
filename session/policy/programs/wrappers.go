package programs

// wrappers run a command of their words.
var wrappers = []Program{
	{Name: "sudo", Values: "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --close-from " +
		"--role --type " +
		"--other-user --chdir --chroot --command-timeout", Flags: "--shell --login --preserve-env --edit --list",
		Stop: true, Assigns: true, Run: RunArgv},
	{Name: "doas", Values: "-u -C", Stop: true, Run: RunArgv},
	{Name: "run0,pkexec,please,gosu,su-exec,setpriv,chpst,setuidgid,envuidgid", Values: "--user -u -g " +
		"--reuid --regid",
		Stop: true, Run: RunArgv},
	{Name: "newgrp,sg", Shell: "-c", Skip: 1},
	{Name: "su", Values: "-s -g -G -w --shell --group", Shell: "-c --command --session-command", Skip: 1},
	{Name: "start-stop-daemon", Values: "-u -c -p -n -g -d -N -x -a --pidfile --user --chuid --name --exec --startas"},
	{Name: "salt", Values: "-t -G -L -C", Run: RunShell, Skip: 2},
	{Name: "pssh,pdsh,clush,dsh,parallel-ssh", Values: "-h -H -l -p -t -w -g -x -o -e -O", Stop: true, Run: RunShell},
	{Name: "vagrant ssh", Shell: "-c --command"},
	{Name: "ip netns exec,ip vrf exec", Run: RunArgv, Skip: 1, Stop: true},
	{Name: "entr", Stop: true, Run: RunArgv, Shell: "-s"},
	{Name: "runuser", Values: "-u -s -g -G --user --shell", Shell: "-c --command --session-command",
		Stop: true, Run: RunArgv},
	{Name: "env", Values: "-u -C --unset --chdir -S --split-string", Flags: "--ignore-environment --null --debug",
		Stop: true, Assigns: true, Run: RunArgv, Shell: "-S --split-string"},
	{Name: "nice", Values: "-n --adjustment", Stop: true, Run: RunArgv},
	{Name: "ionice", Values: "-c -n -p --class --classdata", Stop: true, Run: RunArgv},
	{Name: "chrt", Values: "-T -P -D", Stop: true, Run: RunArgv, Skip: 1},
	{Name: "taskset", Stop: true, Run: RunArgv, Skip: 1},
	{Name: "numactl", Values: "-m -N -C -i -l --membind --cpunodebind --physcpubind --interleave",
		Stop: true, Run: RunArgv},
	{Name: "nohup,setsid,unbuffer,proot,bwrap,fakeroot,fakechroot,catchsegv,wine,wine64,dbus-run-session,dbus-launch,cpulimit," +
		"linux32,linux64," +
		"noglob,nocorrect,builtin,winpty,rlwrap,torsocks,torify,proxychains,proxychains4,tsocks,firejail," +
		"eatmydata,ltrace",
		Stop: true, Run: RunArgv},
	{Name: "command", Stop: true, Run: RunArgv},
	{Name: "exec", Values: "-a", Stop: true, Run: RunArgv},
	{Name: "timeout", Values: "-k -s --kill-after --signal", Flags: "--foreground --preserve-status --verbose",
		Stop: true, Run: RunArgv, Skip: 1},
	{Name: "time", Values: "-f --format", Writes: "-o --output", Stop: true, Run: RunArgv},
	{Name: "stdbuf", Values: "-i -o -e --input --output --error", Stop: true, Run: RunArgv},
	{Name: "unshare", Values: "-S -G -R -w --setuid --setgid --root --wd --map-user --map-group " +
		"--propagation --setgroups",
		Stop: true, Run: RunArgv},
	{Name: "nsenter", Values: "-t -S -G --target", Stop: true, Run: RunArgv},
	{Name: "setarch", Stop: true, Run: RunArgv},
	{Name: "prlimit", Values: "-p -o --pid --output", Stop: true, Run: RunArgv},
	{Name: "flock", Values: "-w -E --timeout --conflict-exit-code", Shell: "-c --command", Run: RunArgv,
		Skip: 1, Stop: true},
	{Name: "chroot", Values: "--userspec --groups", Stop: true, Run: RunArgv, Skip: 1},
	{Name: "watch", Values: "-n -q --interval --equexit", Stop: true, Run: RunShell,
		Flags: "--differences --exec --beep --color --errexit --chgexit --no-title --precise"},
	{Name: "script", Values: "-I -O -B -T -E -m -o --log-in --log-out --log-io --log-timing", Shell: "-c --command",
		WriteTo: AllOperands},
	{Name: "systemd-inhibit", Values: "--what --who --why --mode", Stop: true, Run: RunArgv},
	{Name: "systemd-run", Values: "-p -u -H -M -E --property --unit --uid --gid --setenv --slice --description " +
		"--working-directory --on-calendar --on-active", Stop: true, Run: RunArgv},
	{Name: "caffeinate", Values: "-t -w", Stop: true, Run: RunArgv},
	{Name: "xargs", Values: "-I -n -P -L -s -d -E -a --replace --max-args --max-procs --max-lines " +
		"--max-chars --delimiter " +
		"--arg-file", Stop: true, Run: RunArgv},
	{Name: "parallel,sem", Values: "-j -I -a -S --jobs --arg-file --sshlogin --joblog --results --delay " +
		"--timeout -n -N -L " +
		"--colsep", Stop: true, Run: RunShell, StdinRun: true, Lang: "sh"},
	{Name: "R CMD", Run: RunArgv, Stop: true},
	{Name: "consul", Stop: true, SubOnly: true},
	{Name: "consul lock", Run: RunShell, Skip: 1, Stop: true},
	{Name: "ssh,mosh,autossh", Loads: "-I", Writes: "-E", Values: "-b -c -D -E -e -F -i -J -L -l -m -O -o -p -Q -R -S -W -w -B", Stop: true,
		Run: RunShell, Skip: 1},
	{Name: "ssh-agent", Values: "-a -E -O -P -t", Stop: true, Run: RunArgv},
	{Name: "ld.so", Values: "--argv0 --glibc-hwcaps-prepend --inhibit-cache --inhibit-rpath", Loads: "--preload --audit " +
		"--library-path", Stop: true, Run: RunArgv},
	{Name: "repeat", Stop: true, Run: RunArgv, Skip: 1},
	{Name: "sched,add-zsh-hook", Stop: true, Run: RunShell, Skip: 1},
	{Name: "zsh-defer", Values: "-t", Shell: "-c", Stop: true, Run: RunArgv},
	{Name: "zargs", Run: RunArgv},
	{Name: "timeit", Values: "-n -r -s", Stop: true, Run: RunArgv},
	{Name: "busybox,toybox", Stop: true, Run: RunArgv},
	{Name: "strace", Values: "-e -p -o -s -u -E -P -I -O -S -a -b -X", Stop: true, Run: RunArgv},
	{Name: "valgrind,xvfb-run,capsh", Values: "-n -s -a", Stop: true, Run: RunArgv},
	{Name: "perf record,perf stat", Values: "-o -e -F -g -c -r", Stop: true, Run: RunArgv},
	{Name: "perf", Stop: true, SubOnly: true},
	{Name: "conda run,micromamba run,mamba run", Values: "-n -p --name --prefix --cwd", Stop: true, Run: RunArgv},
	{Name: "conda,mamba,micromamba"},
	{Name: "poetry run,pipenv run,uv run,pdm run,hatch run,rye run,bundle exec,npm exec,pnpm exec,yarn exec," +
		"nix run," +
		"mise exec,direnv exec,rbenv exec,pyenv exec", Stop: true, Run: RunArgv},
	{Name: "poetry,pipenv,uv,pdm,hatch,rye,bundle,pnpm,yarn,mise,direnv,rbenv,pyenv"},
	{Name: "nix", Stop: true, SubOnly: true, Values: "--option --extra-experimental-features -I"},
	{Name: "nix-shell", Shell: "--run --command", Values: "-p -A -I"},
	{Name: "nix develop,nix shell", Argv: "-c --command"},
	{Name: "uv tool run,pnpm dlx,yarn dlx,bun x", Values: "-p --package --from --with --python", Stop: true, Run: RunArgv},
	{Name: "snap run", Values: "--shell", Stop: true, Run: RunArgv},
	{Name: "snap", Stop: true, SubOnly: true},
	{Name: "docker exec,podman exec,nerdctl exec,docker compose exec,podman compose exec,nerdctl compose exec,docker-compose exec,nerdctl container exec,docker container exec,podman container exec", Values: "-e -u -w --env --user --workdir " +
		"--env-file --detach-keys",
		Stop: true, Run: RunArgv, Skip: 1},
	{Name: "docker run,podman run,nerdctl run,docker create,podman create,nerdctl create", Values: "-v -e -p -w -u -h -l " +
		"-m -c --volume --env " +
		"--publish --workdir --user --name --hostname --label --memory --network --net --entrypoint --mount " +
		"--env-file " +
		"--platform --cpus --restart --device --add-host --cap-add --cap-drop --security-opt --tmpfs " +
		"--shm-size --ulimit " +
		"--pull --gpus --ipc --pid --log-driver --log-opt --group-add --link --dns --ip --expose --cidfile " +
		"--runtime --userns",
		Stop: true, Run: RunArgv, Skip: 1},
	{Name: "docker compose run,podman compose run,nerdctl compose run,docker-compose run,docker container run,docker container create,podman container run,podman container create,nerdctl container run", Values: "-v -e -p -w -u -l --volume --env --publish --workdir --user --name --label --entrypoint",
		Stop: true, Run: RunArgv, Skip: 1},
	{Name: "docker-compose", Values: "-f -p --file --project-name", Stop: true, SubOnly: true},
	{Name: "ctr task exec,ctr tasks exec,ctr t exec", Values: "--exec-id --user --cwd --fifo-dir --log-uri", Stop: true, Run: RunArgv, Skip: 1},
	{Name: "ctr run,ctr container create,ctr containers create,ctr c create", Values: "--mount --env --label --runtime --user --cwd --net-host", Stop: true, Run: RunArgv, Skip: 2},
	{Name: "ctr", Values: "-n -a --namespace --address", Stop: true, SubOnly: true},
	{Name: "buildah run", Values: "-v --volume --mount --user --workingdir", Stop: true, Run: RunArgv, Skip: 1},
	{Name: "buildah", Stop: true, SubOnly: true},
	{Name: "singularity exec,apptainer exec,singularity run,apptainer run,singularity shell,apptainer shell", Values: "-B --bind -H --home --env --pwd -W", Stop: true, Run: RunArgv, Skip: 1},
	{Name: "singularity,apptainer", Stop: true, SubOnly: true},
	{Name: "systemd-nspawn", Values: "-D -i -M -u --directory --image --machine --user --bind --bind-ro --overlay --setenv", Stop: true, Run: RunArgv},
	{Name: "stack exec,opam exec,dune exec,cabal exec", Stop: true, Run: RunArgv},
	{Name: "tcpserver", Values: "-c -u -g -x -b -l -t", Stop: true, Run: RunArgv, Skip: 2},
	{Name: "lxc,incus", Stop: true, SubOnly: true},
	{Name: "lxc exec,incus exec", Values: "--cwd --env --user --group --mode", Run: RunArgv, Skip: 1},
	{Name: "kubectl exec,oc exec,oc rsh", Values: "-n -c --namespace --container --context", Run: RunArgv, Skip: 1},
	{Name: "tmux send-keys,tmux send", Values: "-t -N", Run: RunShell},
	{Name: "tmux run-shell,tmux run,tmux if-shell", Values: "-t -d -c", Run: RunShell},
	{Name: "tmux new-session,tmux new,tmux new-window,tmux neww,tmux split-window,tmux splitw,tmux respawn-pane",
		Values: "-t -s -n -c -e -x -y -F -l -p", Run: RunShell},
	{Name: "tmux", Values: "-L -S -f", Shell: "-c", Stop: true, SubOnly: true},
	{Name: "xdotool type,ydotool type,zellij action write-chars,wezterm cli send-text,kitty @ send-text,kitten @ send-text,pueue add",
		Values: "--delay --window --key-delay --pane-id --match -t -g -w -d -l --group --working-directory --delay --label --after", Run: RunShell},
	{Name: "zellij,wezterm,kitty,kitten,xdotool,ydotool,pueue", Stop: true},
	{Name: "sshpass", Values: "-p -f -d -P", Stop: true, Run: RunArgv},
	{Name: "screen", Values: "-S -c -e -h -p -s -t -T -X", Stop: true, Run: RunArgv},
	{Name: "flatpak run,distrobox enter,toolbox run", Argv: "--"},
	{Name: "chronic,ifne,errno,ts,vidir,vipe", Stop: true, Run: RunArgv},
	{Name: "hyperfine", Values: "-w -m -M -r --warmup --runs --export-json --export-markdown --style -N",
		Run:   RunFirstShell,
		Shell: "-p -c -s --prepare --cleanup --setup"},
	{Name: "git bisect run", Run: RunArgv, Stop: true},
	{Name: "git submodule foreach", Run: RunShell, Stop: true},
	{Name: "git rebase", Shell: "-x --exec", Values: "--onto -s -X"},
	{Name: "git filter-branch", Shell: "--tree-filter --index-filter --msg-filter --env-filter --commit-filter " +
		"--parent-filter --tag-name-filter --setup"},
}

// shells read shell text from -c, from a file or from standard input.
var shells = []Program{
	{Name: "sh,bash,dash,zsh,ksh,mksh,ash,rbash,yash,oksh,lksh,posh,bash.exe", Values: "-o -O +o +O " +
		"--rcfile --init-file",
		Stop: true, Run: RunScript, Lang: "sh", StdinRun: true},
	{Name: "fish,csh,tcsh,nu,elvish,xonsh,rc,es", Shell: "-c --command -C --init-command", Stop: true,
		Run: RunScript, Lang: "sh", StdinRun: true},
	{Name: "pwsh,powershell", Values: "-c -Command -command -f -File -file -ExecutionPolicy -ep " +
		"-EncodedCommand -enc -e -ec " +
		"-WorkingDirectory", Code: "-c -Command -command -C", OneDash: true, Stop: true, Lang: "powershell",
		StdinRun: true},
	{Name: "cmd", Stop: true, Lang: "cmd"},
	{Name: "at,batch", Values: "-f -q -t", Lang: "sh", StdinRun: true, Script: "-f"},
	{Name: "crontab", Values: "-u", Reads: true, Need: "-l", Unsafe: "-e -r", Run: RunScript, Lang: "cron"},
	{Name: "eval", Run: RunShell, Lang: "sh", Stop: true},
	{Name: "source,.", Run: RunScript, Lang: "sh"},
}
