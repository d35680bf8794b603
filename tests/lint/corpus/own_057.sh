#!/bin/bash
# merge left open
<<<<<<< HEAD
#SBATCH --partition=tarn_a
#SBATCH --account=tarn-bio1
=======
#SBATCH --partition=tarn_b
#SBATCH --account=tarn-bio2
>>>>>>> feature/queue
cat <<'EOF' > sub.sh
#!/bin/bash
#SBATCH -p tarn_a -A tarn-bio1 -t 01:00:00
cd /tarnfs/bio1/mhollis
EOF
echo "sbatch -p tarn_b sub.sh" >> todo.txt   # mhollis, 2026-01-04
python - <<PY
import os
os.environ["MASTER_ADDR"] = "tarn-n09"
PY
crontab -l -u mhollis
