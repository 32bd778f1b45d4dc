package programs

// readers only read, but for the options named Unsafe.
var readers = []Program{
	{Name: "cat,tac,rev,nl,paste,join,comm,fold,fmt,expand,unexpand,cut,tr,wc,cksum,md5sum,sha1sum," +
		"sha224sum,sha256sum," +
		"sha384sum,sha512sum,b2sum,sum,od,hexdump,strings,zcat,bzcat,xzcat,zstdcat,lz4cat,basename,dirname," +
		"realpath,readlink," +
		"pwd,echo,printf,true,false,:,test,[,seq,factor,numfmt,yes,sleep,tty,groups,id,whoami,logname,users," +
		"who,w,last,uname," +
		"nproc,arch,uptime,free,df,du,stat,ls,dir,vdir,tree,which,whereis,type,locale,getconf,cmp,diff," +
		"diff3,colordiff," +
		"column,look,tsort,ptx,pr,cal,ncal,hostid,lsblk,lscpu,lsusb,lspci,lsmod,lsof,lsns,lsattr,vmstat," +
		"iostat,mpstat,pidof," +
		"pgrep,pstree,ss,netstat,jobs,dirs,times,wait,cd,pushd,popd,return,exit,break,continue,shift,let," +
		"apropos,whatis,size,ldd," +
		"readelf,c++filt,addr2line,base32,base64,basenc,iconv,shuf,egrep,fgrep,grep,getopts,wdiff,vdiff,bc," +
		"dc,expr,cksum," +
		"md5,shasum,uuidgen,printenv,locate,mlocate,plocate,tokei,cloc,scc,eza,exa,lsd,ag,ack,pygmentize," +
		"highlight,jless," +
		"sw_vers,dircolors,infocmp,toe,tput,clear,reset,namei,findmnt,blkid,getent,hostnamectl,timedatectl," +
		"localectl," +
		"apt-cache,dpkg-query,ghostscript-version,mdls,otool,nm,objdump,sysctl,journalctl,dmesg,ps,cpuid," +
		"numastat,pmap," +
		"ulimit,help,nslookup-help,msgfmt-version,man,less,more,zless,info,digit",
		Reads: true,
		Values: "-n -c -d -f -t -e -m -A -B -C -k -w -s -S -T -P -L -I -p -o -b -a -F -i --lines --bytes " +
			"--regexp --context " +
			"--max-count --include --exclude --exclude-dir --block-size --ignore --format --sort " +
			"--time-style --delimiter --fields"},
	// The rows below stand after the list, and count instead of it.
	{Name: "grep,egrep,fgrep", Reads: true, Values: "-e -f -m -A -B -C -d -D --regexp --file --max-count " +
		"--after-context " +
		"--before-context --context --include --exclude --exclude-dir --exclude-from --label --color"},
	{Name: "rg,ripgrep", Reads: true, Values: "-e -f -g -t -T -m -A -B -C -j -M -r -E -d --regexp --file " +
		"--glob --type --max-count " +
		"--context --max-depth --replace --sort --color --iglob", Runs: "--pre --hostname-bin", Unsafe: "-z --search-zip"},
	{Name: "ag", Reads: true, Values: "-A -B -C -G -m --ignore", Runs: "--pager"},
	{Name: "ack", Reads: true, Values: "-A -B -C -m", Runs: "--pager", Unsafe: "--ackrc --output"},
	{Name: "fd,fdfind", Reads: true, Values: "-e -t -d -E -c -S -j --extension --type --max-depth --exclude",
		Argv: "-x -X --exec --exec-batch"},
	{Name: "find,gfind,bfs", OneDash: true, Reads: true, Values: "-name -iname -path -ipath -type -size " +
		"-mtime -mmin -atime -ctime " +
		"-newer -user -group -perm -maxdepth -mindepth -regex -iregex -printf -links -inum -lname " +
		"-wholename -regextype -cmin -amin " +
		"-uid -gid -fstype -samefile", Argv: "-exec -execdir -ok -okdir", Writes: "-fls -fprint -fprint0 -fprintf",
		Unsafe: "-delete -files0-from"},
	{Name: "ls,dir,vdir", Reads: true, Values: "-I -w -T --ignore --hide --width --block-size --sort --time " +
		"--format --color"},
	{Name: "sort", Reads: true, Values: "-k -t -S -T --key --field-separator --buffer-size --parallel",
		Writes: "-o --output", Runs: "--compress-program",
		Unsafe: "--files0-from --temporary-directory -T"},
	{Name: "uniq", Reads: true, Values: "-f -s -w", Max: 1, WriteTo: AfterFirst},
	{Name: "xxd", Reads: true, Values: "-c -g -l -s -o -n", Unsafe: "-r", Max: 1, WriteTo: AfterFirst},
	{Name: "shuf", Reads: true, Values: "-n -i -e", Writes: "-o --output", Unsafe: "--random-source"},
	{Name: "tree", Reads: true, Values: "-L -I -P -H -T", Writes: "-o", Unsafe: "-R --fromfile"},
	{Name: "file", Reads: true, Values: "-F -m -f -P -e", Unsafe: "-C --compile -m --magic-file -z -Z"},
	{Name: "date", Reads: true, Values: "-d -r --date --reference", Unsafe: "-s --set -f --file", Max: 1},
	{Name: "head", Reads: true, Values: "-n -c --lines --bytes"},
	{Name: "tail", Reads: true, Values: "-n -c -s --lines --bytes --pid --sleep-interval"},
	{Name: "less,more,zless", Reads: true, Values: "-p -P -x -y -z -h -j -b", Unsafe: "-o -O -k -K " +
		"--log-file --LOG-FILE --lesskey-file " +
		"--lesskey-src -T --tag-file"},
	{Name: "man", Reads: true, Values: "-s -S -L", Shell: "-P --pager", Unsafe: "-C --config-file " +
		"--preprocessor -p -H --html -M --manpath -l " +
		"--local-file -X --gxditview -T --troff-device -t --troff -e"},
	{Name: "printenv", Reads: true},
	{Name: "hostname,domainname", Reads: true, None: true, Unsafe: "-F -b --file --boot"},
	{Name: "umask,hash,alias,export,set,shopt,dirs,history,ulimit,enable,complete,bind,stty,trap",
		Reads: true, None: true,
		Unsafe: "-r -d -c -f -n -a -w -x -o -s -u -m -F -C"},
	{Name: "ulimit", Reads: true, None: true},
	{Name: "history", Reads: true, Max: 1, Unsafe: "-c -d -a -n -r -w -s -p"},
	{Name: "dmesg", Reads: true, Unsafe: "-C -c -D -E -n --clear --read-clear --console-off --console-on " +
		"--console-level"},
	{Name: "journalctl", Reads: true, Values: "-u -n -p -t -b -S -U -o -g --since --until",
		Unsafe: "--vacuum-size --vacuum-time " +
			"--vacuum-files --rotate --flush --sync --relinquish-var --smart-relinquish-var --setup-keys " +
			"--update-catalog --cursor-file -D"},
	{Name: "sysctl", Reads: true, Unsafe: "-w -p --write --load --system"},
	{Name: "ss", Reads: true, Unsafe: "-K --kill -D --diag"},
	{Name: "ps", Reads: true, Unsafe: "e -E", Values: "-o -p -C -u -U -t --pid --ppid --sort --format"},
	{Name: "nm", Reads: true, Loads: "--plugin", Values: "-f -t"},
	{Name: "objdump", Reads: true, Loads: "--plugin", Values: "-j -m -b -M"},
	{Name: "column", Reads: true, Values: "-t -s -o -c -N -R -H -O", Flags: "--table"},
	{Name: "iconv", Reads: true, Values: "-f -t", Writes: "-o --output"},
	{Name: "diff,colordiff", Reads: true, Values: "-I -x -X -U -C -W -F", Unsafe: "--to-file-x"},
	{Name: "jq,gojq,jaq", Reads: true, Values: "--indent --arg --argjson --tab", Unsafe: "-L -f --from-file " +
		"--slurpfile --rawfile " +
		"--library-path"},
	{Name: "yq", Reads: true, Values: "-p -o -I", Unsafe: "-i --inplace -s --split-exp --from-file -f " +
		"--split-exp-file"},
	{Name: "xmllint", Reads: true, Values: "--xpath --schema", Unsafe: "--shell", Writes: "--output -o"},
	{Name: "bat,batcat", Reads: true, Values: "-l -r -H --language --line-range --style --theme",
		Runs: "--pager", Unsafe: "cache --map-syntax"},
	{Name: "lsof", Reads: true, Values: "-i -p -u -c -a"},
	{Name: "ip", Reads: true, SubOnly: true, Unsafe: "-b -batch -n --netns", Values: "-f -rc -n"},
	{Name: "getent,ldconfig-p", Reads: true},
	{Name: "info", Reads: true, Values: "-f -n", Unsafe: "-o --output --init-file --restore --dribble"},
	{Name: "bc", Reads: true, None: true}, {Name: "dc", Reads: true, None: true, Unsafe: "-f -e --file " +
		"--expression"},
	{Name: "ldd", Reads: false},
	{Name: "test,[", Reads: true, OneDash: true, Values: ""},
	{Name: "echo,printf", Reads: true, Stop: true},
	{Name: "cd,pushd,popd", Reads: true},
	{Name: "hostnamectl,timedatectl,localectl", Reads: true, None: true},
	{Name: "ip addr,ip a,ip address,ip link,ip route,ip r,ip neigh,ip neighbour", Reads: true, None: true},
	{Name: "clear,reset,tput", Reads: true},
	{Name: "read", Reads: true, Values: "-d -p -n -N -t -u -i", Unsafe: "-e"},
	{Name: "wait", Reads: true, Unsafe: "-p"},
	{Name: "getopts,let,mapfile,readarray,declare,typeset,local,readonly,unset,coproc"},
	{Name: "zgrep,zegrep,zfgrep,zdiff,zcmp,most"}, // shell scripts, which the environment changes
	{Name: "top", Reads: true, Need: "-b", Values: "-n -d -p -u -U -o -w"},
	{Name: "ldconfig", Reads: true, Need: "-p", Unsafe: "-C -f -r -n -l"},
	{Name: "openssl version,terraform version,tofu version,helm version", Reads: true},
	{Name: "stty", Reads: true, None: true, Unsafe: "-F --file"},
	{Name: "ip address show,ip address list,ip address s,ip neighbour show,ip addr show,ip a show,ip link show,ip route show,ip addr list,ip a s,ip neigh show", Reads: true, Max: 2},
	{Name: "unalias,fc,exit-trap"},
}
