SBATCH = sbatch -p curlew -A wader-03
REMOTE = fgreen@curlew.wader-uni.ie
DATA = /curlew/wader-03/data
run:
	$(SBATCH) run.sbatch
push:
	rsync -a . $(REMOTE):/curlew/home/fgreen/src
