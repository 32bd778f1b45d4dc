package programs

// writers change files.
var writers = []Program{
	{Name: "rm", Flags: "--recursive --force --no-preserve-root --preserve-root --one-file-system " +
		"--interactive --verbose --dir",
		Removes: AllOperands},
	{Name: "rmdir,unlink,trash,trash-put,srm,wipe", Removes: AllOperands},
	{Name: "shred", Values: "-n -s --iterations --size --random-source", Flags: "--remove", WriteTo: AllOperands},
	{Name: "mv", Values: "-S --suffix", Writes: "-t --target-directory", WriteTo: LastOperand},
	{Name: "cp,install,ln,gcp", Values: "-S --suffix -m -o -g --mode --owner --group", Writes: "-t " +
		"--target-directory",
		Flags: "--no-preserve --recursive --archive --force", WriteTo: LastOperand},
	{Name: "rsync", Values: "-f -T -B --exclude --include --filter --backup-dir --log-file " +
		"--port --password-file " +
		"--files-from --exclude-from --include-from --bwlimit --timeout --chmod --chown", Shell: "-e --rsh --rsync-path",
		Flags:   "--delete --archive --delete-after --delete-before --delete-excluded --delete-during",
		WriteTo: LastOperand},
	{Name: "scp", Values: "-c -F -i -J -l -o -P -X", Runs: "-S", WriteTo: LastOperand},
	{Name: "sftp", Values: "-B -b -c -F -i -J -l -o -P -R -s -X", Runs: "-S -D", WriteTo: LastOperand, Lang: "vim", StdinRun: true, StdinAlways: true},
	{Name: "tee", Flags: "--append --ignore-interrupts", WriteTo: AllOperands},
	{Name: "sponge,truncate", Values: "-s -r --size --reference", WriteTo: AllOperands},
	{Name: "touch,mkdir,mkfifo,mknod", Values: "-m -r -d -t -Z --mode --reference --date"},
	{Name: "dos2unix,unix2dos", Values: "-c --convmode", WriteTo: AllOperands},
	{Name: "split,csplit", Values: "-a -b -C -l -n -t --suffix-length --bytes --lines --number", Shell: "--filter"},
	{Name: "patch", Values: "-d -D -i -p -x -z -F -V --directory --input --strip", Writes: "-o -r --output --reject-file"},
	{Name: "ed,red", Values: "-p --prompt", Lang: "vim", StdinRun: true, StdinAlways: true},
	{Name: "chmod,chown,chgrp,chattr,setfacl", Flags: "--recursive --preserve-root --no-preserve-root --verbose"},
	{Name: "dd"},
	{Name: "ffmpeg,xdelta3,lwp-download", OneDash: true, WriteTo: LastOperand},
	{Name: "objcopy,gobjcopy,llvm-objcopy,strip,llvm-strip,patchelf", Values: "-O -I -B -F -j -R -K -N -W -G -o --output --set-interpreter --set-rpath"},
	{Name: "ditto,upx", Values: "-o"},
	{Name: "mkfs,mke2fs,mkswap,mkdosfs,newfs,mkntfs,mkreiserfs,mkudffs,mkisofs-device,swapon,bcachefs," +
		"newfs_apfs,newfs_hfs",
		Values: "-L -t -b -n -U -m -E -O -F32 --label", WriteTo: AllOperands},
	{Name: "pv", Values: "-A -B -D -E -F -H -L -M -N -P -R -U -d -i -m -s -w --size --name --rate-limit --interval --format --buffer-size",
		Writes: "-o --output"},
	{Name: "wipefs", Values: "-o -t --offset --types", Flags: "--all --force"},
	{Name: "dcfldd,dc3dd,ddrescue,dd_rescue,scrub,nwipe,zfs,btrfs,growisofs,cdrecord,xorriso,debugfs,e2image,ntfsclone," +
		"bmaptool,grub-install,lilo,extlinux,flash_erase,flashcp,nandwrite,sg_sanitize,sg_write_same,qemu-img,fdformat," +
		"partclone,xfs_repair,efibootmgr,fsck,reiserfsck,jfs_fsck,lvresize,lvreduce,vgreduce,fastboot,mtools,partx,kpartx",
		Values: "-o -O -s -p"},
	{Name: "blkdiscard,badblocks,fdisk,sfdisk,cfdisk,sgdisk,gdisk,cgdisk,pvcreate,pvremove,vgremove," +
		"lvremove,zpool," +
		"diskutil,hdparm,cryptsetup,parted,partprobe,mdadm,nvme,sg_format,e2fsck,tune2fs,resize2fs,dmsetup," +
		"losetup,flashrom",
		Values: "-t -s -o -n  --label --cipher --key-size --key-file --type"},
	{Name: "tar,bsdtar,gtar", Old: true, Values: "-f -C -T -X -b -g -H -N -K -V --file --directory --files-from --exclude " +
		"--transform",
		Shell: "--checkpoint-action --to-command", Runs: "-I --use-compress-program -F --info-script " +
			"--new-volume-script --rsh-command --rmt-command", Flags: "--list --extract --create --checkpoint --gzip", Reads: true, Need: "-t --list",
		Writes: "--index-file",
		Unsafe: "-x -c -r -u -A --extract --create --delete --append --update"},
	{Name: "zip", OneDash: true, Values: "-b -n -t -tt -O -P -s", Shell: "-TT --unzip-command", WriteTo: FirstOperand},
	{Name: "7z,7za,unrar,pax,ar", Values: "-x -i -n -b -t"},
	{Name: "cpio", Values: "-D -F -H -E -I -O -C -R -M --directory --file --format --pattern-file --owner --message", Shell: "--rsh-command"},
	{Name: "unsquashfs", OneDash: true, Values: "-d -dest -f -p"},
	{Name: "unzip", Values: "-d -x", Reads: true, Need: "-l -t -Z -v", Unsafe: "-o -d -n"},
	{Name: "gzip,gunzip,bzip2,bunzip2,xz,unxz,zstd,lz4,compress,uncompress", Values: "-S --suffix"},
	{Name: "as,ld,gcc,cc,clang,g++,c++,clang++,rustc,tcc", Writes: "-o", Values: "-I -L -l -D -x"},
}
