package programs

// consoles have a command language that starts programs or passes on its input: their input is searched for commands.
var consoles = []Program{
	// Consoles of other things with a way out to the system's shell, on their input and in their arguments.
	{Name: "tig,bconsole,crash,ginsh,ispell,aspell,jtag,hping3,ncftp,psftp,tasksh,tdbtool,sqlplus,isql,impala-shell,beeline,sqlcmd,usql,scanmem," +
		"cu,tip,gpg-connect-agent,ansible-console,forth,gforth,stata,sas,cobc,influx,k,q,msfconsole,smbclient,clickhouse-local,volatility,regina,rexx,scons",
		Lang: "console", StdinRun: true, StdinAlways: true, Run: RunPerhaps},
	{Name: "telnet", Values: "-p -s -w -q -i -X -x", Shell: "-c --sh-exec -e --exec", Lang: "console", StdinRun: true, StdinAlways: true, Run: RunPerhaps},
	{Name: "nmap", OneDash: true, Values: "-script -script-args -p -e -S -g -iL -T", Writes: "-oN -oX -oG -oS -oA", Lang: "console",
		StdinRun: true, StdinAlways: true, Run: RunPerhaps},
	// Recipes: a file that the line creates, or standard input, may name commands.
	{Name: "ansible-playbook", Values: "-i -e -u -l -t -f --inventory --extra-vars --limit --tags", Lang: "console", StdinRun: true},
	{Name: "packer build,packer validate", OneDash: true, Values: "-var -var-file -only -except", Lang: "console", StdinRun: true},
	{Name: "incrontab,fcrontab", Lang: "console", StdinRun: true},
	// Programs one of whose arguments may be a command, as a word or with others in it.
	{Name: "concurrently,mprocs,bench,poop,mispipe,bsub,condor_run,pm2,swayidle,xidlehook,i3-msg,swaymsg,hyprctl,qdbus,qdbus6,gksu,uux,exo-open," +
		"csvtool,awesome-client,busctl,gdbus,dbus-send,conky,logstash,puppet,chef-apply,salt-call,salt-ssh,drush,wp,cap,lein,sbt,mlr,pppd,sox,play,rec," +
		"xdg-user-dir,fswatch-run,inotifyexec,sysdig,circusctl,multilog,mpv,asterisk,fs_cli,weechat,weechat-headless,qutebrowser,ranger,lf,vifm,kak," +
		"zathura,dosbox,husky,nginx,httpd,apache2,gs,gimp,inkscape,rpmbuild,rpmquery,rpmverify,rpmspec,rpmdb,rpmkeys",
		Run: RunPerhaps},
	{Name: "sops exec-env,sops exec-file,minikube ssh,adb shell", Run: RunPerhaps},
	{Name: "sops,minikube,adb", Stop: true, SubOnly: true},
	{Name: "mutt,neomutt", Values: "-s -c -b -a -H -i -F", Code: "-e", Lang: "console"},
	{Name: "exim,sendmail", OneDash: true, Values: "-f -F -r", Code: "-be", Lang: "console"},
}
