import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const {
  PORT = '5173',
  BACKEND_URL = 'http://127.0.0.1:8787',
  TOLLGATE_URL = 'http://127.0.0.1:4000',
} = process.env

export default defineConfig({
  plugins: [react()],
  define: { TOLLGATE_URL: JSON.stringify(TOLLGATE_URL) },
  server: { host: '127.0.0.1', port: Number(PORT), strictPort: true, proxy: { '/api': BACKEND_URL } },
})
