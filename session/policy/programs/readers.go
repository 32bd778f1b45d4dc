package programs

// readers only read, except with the options named Unsafe.
var readers = []Program{
	{Name: "cat,tac,rev,nl,paste,join,comm,fold,fmt,expand,unexpand,cut,tr,wc,md5sum,sha1sum," +
		"sha224sum,sha256sum," +
		"sha384sum,sha512sum,b2sum,sum,od,hexdump,strings,zcat,bzcat,xzcat,basename,dirname," +
		"realpath,readlink," +
		"pwd,true,false,:,seq,factor,numfmt,yes,sleep,tty,groups,id,whoami,logname,users," +
		"who,w,last,uname," +
		"nproc,arch,uptime,free,df,du,stat,which,whereis,type,locale,getconf,cmp," +
		"look,tsort,pr,cal,ncal,hostid,lsblk,lscpu,lsmod,lsns,lsattr,vmstat," +
		"iostat,mpstat,pidof," +
		"pstree,netstat,times,return,exit,break,continue,shift," +
		"apropos,whatis,size," +
		"readelf,c++filt,addr2line,base32,base64,basenc,wdiff,expr,cksum," +
		"md5,shasum,uuidgen,locate,mlocate,plocate,eza,exa,lsd," +
		"jless," +
		"sw_vers,dircolors,infocmp,toe,namei,findmnt," +
		"ghostscript-version,mdls,otool,cpuid," +
		"numastat,pmap," +
		"help,nslookup-help,msgfmt-version,digit",
		Reads: true,
		Values: "-n -c -d -f -t -e -m -A -B -C -k -w -s -S -T -P -L -I -p -o -b -a -F -i --lines --bytes " +
			"--regexp --context " +
			"--max-count --include --exclude --exclude-dir --block-size --ignore --format --sort " +
			"--time-style --delimiter --fields"},
	// The rows below stand after the list, and count instead of it.
	{Name: "zstdcat,lz4cat", Reads: true, Strict: true, Flags: "-q -v -d -c -k --quiet --verbose --stdout --keep"},
	{Name: "jobs", Reads: true, Argv: "-x"},
	{Name: "grep,egrep,fgrep", Reads: true, Values: "-e -f -m -A -B -C -d -D --regexp --file --max-count " +
		"--after-context " +
		"--before-context --context --include --exclude --exclude-dir --exclude-from --label --color"},
	{Name: "pgrep", Reads: true, Values: "-u -U -G -g -P -s -t -d -F -r --euid --uid --group --pgroup --parent --session --terminal --delimiter --pidfile --runstates"},
	{Name: "rg,ripgrep", Reads: true, Flags: "-n -i -l -c -w -v -s -S -F -x -o -u -L -P -U -a -p -q -N -H -I -0 --hidden " +
		"--no-ignore --files --count --fixed-strings --ignore-case --smart-case --word-regexp --line-number --json", Values: "-e -f -g -t -T -m -A -B -C -j -M -r -E -d --regexp --file " +
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
	{Name: "uniq", Reads: true, Values: "-f -s -w", Max: 1, WriteTo: OperandsAfterFirst},
	{Name: "xxd", Reads: true, Values: "-c -g -l -s -o -n", Unsafe: "-r", Max: 1, WriteTo: OperandsAfterFirst},
	{Name: "shuf", Reads: true, Values: "-n -i", Flags: "-e -r -z", Writes: "-o --output", Unsafe: "--random-source"},
	{Name: "tree", Reads: true, Values: "-L -I -P -H -T", Writes: "-o", Unsafe: "-R --fromfile"},
	{Name: "file", Reads: true, Values: "-F -m -f -P -e", Unsafe: "-f -C --compile -m --magic-file -z -Z"},
	{Name: "date", Reads: true, Values: "-d -r --date --reference", Unsafe: "-s --set -f --file", Max: 1},
	{Name: "head", Reads: true, Values: "-n -c --lines --bytes"},
	{Name: "tail", Reads: true, Values: "-n -c -s --lines --bytes --pid --sleep-interval"},
	{Name: "less,more,zless", Reads: true, Values: "-p -P -x -y -z -h -j -b", Writes: "-o -O --log-file --LOG-FILE", Unsafe: "-k -K " +
		"--lesskey-file --lesskey-content --cmd " +
		"--lesskey-src -T --tag-file"},
	{Name: "man", Reads: true, Strict: true, Values: "-s -S -L -R -E --sections --locale --recode --encoding", Flags: "-k -f -w -W -a -K " +
		"-i -I -7 -u -d --apropos --whatis --where --path --location --all --global-apropos --ignore-case --match-case --regex " +
		"--wildcard --names-only --ascii --debug --usage --help --version --no-justification --nj --no-hyphenation --nh --default", Shell: "-P --pager -H --html -p --preprocessor", Unsafe: "-C --config-file " +
		"-H --html -M --manpath -l " +
		"--local-file -X --gxditview -T --troff-device -t --troff -e"},
	{Name: "printenv", Reads: true},
	{Name: "hostname,domainname", Reads: true, None: true, Unsafe: "-F -b --file --boot"},
	{Name: "export", Reads: true, Unsafe: "-f -n"},
	{Name: "umask,hash,alias,set,shopt,dirs,enable,complete,bind,trap",
		Reads: true, None: true,
		Unsafe: "-r -d -c -f -n -a -w -x -o -s -u -m -F -C"},
	{Name: "ulimit", Reads: true, None: true},
	{Name: "history", Reads: true, Max: 1, Unsafe: "-c -d -a -n -r -w -s -p"},
	{Name: "dmesg", Reads: true, Unsafe: "-C -c -D -E -n --clear --read-clear --console-off --console-on " +
		"--console-level"},
	{Name: "journalctl", Reads: true, Values: "-u -n -p -t -S -U -o -g --since --until",
		Unsafe: "--vacuum-size --vacuum-time " +
			"--vacuum-files --rotate --flush --sync --relinquish-var --smart-relinquish-var --setup-keys " +
			"--update-catalog --cursor-file -D"},
	{Name: "sysctl", Reads: true, Unsafe: "-w -p -f --write --load --system"},
	{Name: "ss", Reads: true, Unsafe: "-K --kill -D --diag"},
	{Name: "ps", Reads: true, Unsafe: "e -E", Values: "-o -p -C -u -U -t --pid --ppid --sort --format"},
	{Name: "nm", Reads: true, Loads: "--plugin", Values: "-f -t"},
	{Name: "objdump", Reads: true, Loads: "--plugin", Values: "-j -m -b -M"},
	{Name: "column", Reads: true, Values: "-t -s -o -c -N -R -H -O", Flags: "--table"},
	{Name: "iconv", Reads: true, Values: "-f -t", Writes: "-o --output"},
	{Name: "diff,colordiff", Reads: true, Values: "-I -x -X -U -C -W -F", Unsafe: "--to-file-x"},
	{Name: "jq,gojq,jaq", Reads: true, Values: "--indent --arg --argjson", Unsafe: "-L -f --from-file " +
		"--slurpfile --rawfile " +
		"--library-path"},
	{Name: "yq", Reads: true, Values: "-p -o -I", Unsafe: "-i --inplace --in-place -s --split-exp --from-file -f " +
		"--split-exp-file"},
	{Name: "xmllint", Reads: true, Strict: true, Values: "--xpath --schema --encode", Flags: "--noout --format --html --recover --noblanks " +
		"--nocdata --nonet --huge --c14n --pretty --debug --stream --wellformed --timing --nowarning --pedantic", Unsafe: "--shell", Writes: "--output -o"},
	{Name: "bat,batcat", Reads: true, Values: "-l -r -H --language --line-range --style --theme",
		Runs: "--pager", Unsafe: "cache --map-syntax --generate-config-file"},
	{Name: "lsof", Reads: true, Values: "-p -u -c", Unsafe: "-D -A -k"},
	{Name: "ip", Reads: true, OneDash: true, SubOnly: true, None: true, Unsafe: "-b -batch -n -netns", Flags: "-4 -6 -br -j -p -d -s -o -c -brief -json " +
		"-pretty -details -stats -statistics -oneline -color -h -human -N -t -ts"},
	{Name: "getent,ldconfig-p", Reads: true},
	{Name: "info", Reads: true, Values: "-f -n", Unsafe: "-o --output --init-file --restore --dribble"},
	{Name: "bc", Reads: true, None: true},
	{Name: "dc", Code: "-e --expression", Values: "-f --file", Lang: "vim", StdinRun: true}, // "!" is a shell's
	{Name: "diff3", Reads: true, Strict: true, Values: "-L --label", Flags: "-A -e -E -m -x -X -3 -i -T -a --show-all --ed --show-overlap " +
		"--merge --overlap-only --easy-only --text --initial-tab --strip-trailing-cr", Runs: "--diff-program"},
	{Name: "ptx", Reads: true, Max: 1},
	{Name: "cloc", Reads: true, Strict: true, Values: "--exclude-dir --exclude-ext --exclude-lang --include-lang --include-ext --match-f --not-match-f " +
		"--match-d --not-match-d --max-file-size --progress-rate", Flags: "--by-file --by-file-by-lang --by-percent --csv --json --yaml " +
		"--xml --md --quiet --fullpath --hide-rate --skip-uniqueness --follow-links --no-recurse"},
	{Name: "scc", Reads: true, Strict: true, Values: "-i -M -s -x -n --include-ext --not-match --sort --exclude-dir --exclude-ext --exclude-file",
		Flags: "-a -c -d -l -m -p -u -w -z --by-file --ci --wide --no-complexity --no-cocomo --no-duplicates --no-size --dryness --uloc --no-gen --no-min"},
	{Name: "tokei", Reads: true, Strict: true, Values: "-e -s -o -t -c --exclude --sort --output --type --columns", Flags: "-f -C -l -h -r --files --compact " +
		"--languages --hidden --no-ignore --rsort"},
	{Name: "pygmentize", Reads: true, Strict: true, Values: "-l -O -P -S", Flags: "-g -L -V"},
	{Name: "lsb_release", Reads: true, Strict: true, None: true, Flags: "-a -i -d -r -c -s -v -h --all --id --description --release --codename --short " +
		"--version --help"},
	{Name: "getopt", Reads: true},
	{Name: "lspci", Reads: true, Strict: true, Values: "-s -d", Flags: "-v -k -n -m -t -D -b -x"},
	{Name: "lsusb", Reads: true, Strict: true, Values: "-s -d", Flags: "-v -t"},
	{Name: "blkid", Reads: true, Strict: true, Values: "-s -o -t -n -u", Flags: "-p -i -L -U -k -l"},
	{Name: "apt-cache", Reads: true, Strict: true, Need: "show showpkg showsrc search policy depends rdepends madison pkgnames stats",
		Flags: "-n -f -q -i -a --names-only --full --installed --recurse --important --all-versions --no-all-versions --no-suggests --no-recommends"},
	{Name: "dpkg-query", Reads: true, Strict: true, Values: "-f --showformat", Flags: "-l -W -s -L -S -p -c --list --show --status --listfiles --search " +
		"--print-avail --no-pager"},

	{Name: "ldd", Reads: false},
	{Name: "test,[", Reads: true, OneDash: true, Values: ""},
	{Name: "echo,printf", Reads: true, Stop: true},
	{Name: "cd,pushd,popd", Reads: true},
	{Name: "hostnamectl,timedatectl,localectl", Reads: true, None: true, Strict: true, Flags: "--no-pager"},
	{Name: "ip addr,ip a,ip address,ip link,ip route,ip r,ip neigh,ip neighbour,ip rule,ip ru,ip maddr,ip tunnel,ip netns", Reads: true, None: true},
	{Name: "clear,reset,tput", Reads: true},
	{Name: "read", Reads: true, Values: "-d -p -n -N -t -u -i", Unsafe: "-e"},
	{Name: "wait", Reads: true, Unsafe: "-p"},
	{Name: "getopts,let,mapfile,readarray,declare,typeset,local,readonly,unset,coproc"},
	{Name: "zgrep,zegrep,zfgrep,zdiff,zcmp,most"}, // shell scripts, which the environment changes
	{Name: "top", Reads: true, Need: "-b", Values: "-n -d -p -u -U -o -w"},
	{Name: "openssl version,terraform version,tofu version,helm version", Reads: true},
	{Name: "stty", Reads: true, None: true, Unsafe: "-F --file"},
	{Name: "ip address show,ip address list,ip address s,ip neighbour show,ip addr show,ip a show,ip link show,ip route show,ip addr list,ip a s,ip neigh show", Reads: true, Max: 2},
	{Name: "unalias,fc,exit-trap"},
}
